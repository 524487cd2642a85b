"""A plan as Slurm's lines: typed gres for slurm.conf, and the devices behind them for gres.conf."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

from dovetail.domain.errors import ConfigError
from dovetail.mig.plan.instances import Instances
from dovetail.mig.plan.plan import MigPlan, NodePlan
from dovetail.slurm.host_lists import host_list

_PATH = re.compile(r"/[A-Za-z0-9._/-]*", re.ASCII)


def slurm_conf_lines(plan: MigPlan) -> str:
    """What the nodes offer. A job names the type: `--gres=gpu:1` may take any slice."""
    lines = [
        "# Put Gres= onto the nodes' own NodeName lines: a node may be defined only once.",
        "GresTypes=gpu",
    ]
    for group in plan.groups:
        gres = ",".join(f"gpu:{name}:{count}" for name, count in plan.counts(group.gpus).items())
        lines.append(f"NodeName={host_list(group.nodes)} Gres={gres}")
    return "\n".join(lines) + "\n"


def gres_conf_detected(plan: MigPlan) -> str:
    """For a Slurm that was built with NVML: it finds the slices by itself."""
    nodes = tuple(part.node for part in plan.nodes)
    return f"NodeName={host_list(nodes)} AutoDetect=nvml\n"


def gres_conf_listed(
    plan: MigPlan, instances: Mapping[str, Instances], devices: str = "/dev"
) -> str:
    """One line per slice, from the instances that each node shows after it was cut."""
    if _PATH.fullmatch(devices) is None:
        raise ConfigError(f"device folder {devices[:70]!r}: expected an absolute, plain path")
    lines: list[str] = []
    for part in plan.nodes:
        if part.node not in instances:
            raise ConfigError(f"node {part.node}: no list of its instances was given")
        lines.extend(_slices(plan, part, instances[part.node], PurePosixPath(devices)))
    return "\n".join(lines) + "\n"


def _slices(plan: MigPlan, part: NodePlan, there: Instances, root: PurePosixPath) -> list[str]:
    _refuse_difference(part, there)
    # Slurm numbers devices by line, in the order of the types in slurm.conf.
    return [
        f"NodeName={part.node} Name=gpu Type={profile} MultipleFiles="
        + ",".join(
            [f"{root}/nvidia{gpu}"]
            + [f"{root}/nvidia-caps/nvidia-cap{minor}" for minor in instance.minors]
        )
        for profile in plan.counts(part.gpus)
        for gpu in sorted(there)
        for instance in there[gpu]
        if instance.profile == profile
    ]


def _refuse_difference(part: NodePlan, there: Instances) -> None:
    for gpu in sorted({*there, *range(len(part.gpus))}):
        planned = Counter(part.gpus[gpu] if gpu < len(part.gpus) else ())
        shown = Counter(instance.profile for instance in there.get(gpu, ()))
        if planned != shown:
            raise ConfigError(
                f"node {part.node} GPU {gpu}: the plan has {_words(planned)}, the node shows "
                f"{_words(shown)}; apply the plan first, then list the instances again"
            )


def _words(counts: Counter[str]) -> str:
    return " + ".join(f"{count} × {name}" for name, count in sorted(counts.items())) or "nothing"
