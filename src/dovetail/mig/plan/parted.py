"""A plan as the YAML that NVIDIA's mig-parted applies."""

from __future__ import annotations

from dovetail.mig.plan.plan import Cut, MigPlan, NodeGroup
from dovetail.slurm.host_lists import host_list


def mig_parted_yaml(plan: MigPlan) -> str:
    """All configurations of the plan; a comment says which nodes each is for.

    Names hold no character that YAML's double quotes would have to escape: the plan refuses them.
    """
    lines = ["version: v1", "mig-configs:"]
    for group in plan.groups:
        lines.append(f"  # for {host_list(group.nodes)}")
        lines.append(f'  "{group.name}":')
        for cut, devices in _alike(group).items():
            lines.append(f"    - devices: [{', '.join(map(str, devices))}]")
            lines.append("      mig-enabled: true")
            lines.append("      mig-devices:")
            counts = plan.counts([cut])
            lines.extend(f'        "{profile}": {count}' for profile, count in counts.items())
    return "\n".join(lines) + "\n"


def _alike(group: NodeGroup) -> dict[Cut, list[int]]:
    """GPU indices by what they are cut into."""
    devices: dict[Cut, list[int]] = {}
    for index, cut in enumerate(group.gpus):
        devices.setdefault(tuple(sorted(cut)), []).append(index)
    return devices
