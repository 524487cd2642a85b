"""How fast each GPU type is for each kind of live jobs: from the cluster file of the site.

>>> speeds = GpuSpeeds({"a100": 1.0, "t4": 0.4}, {"vision": {"t4": 0.7}})
>>> job = LiveJob(17, "17", "PENDING", account="vision", qos="normal")
>>> speeds.kind_of(job), speeds.of("t4", "vision"), speeds.of("t4", None)
('vision', 0.7, 0.4)

Slurm knows no kinds: a job is of the kind that its QOS, account or first partition is named after.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dovetail.domain.cluster import Cluster
from dovetail.live.model.snapshot import LiveJob


@dataclass(frozen=True)
class GpuSpeeds:
    """Factors; what is not named has 1."""

    by_type: Mapping[str, float] = field(default_factory=dict)
    by_kind: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def kind_of(self, job: LiveJob) -> str | None:
        names = (job.qos, job.account, *job.partitions[:1])
        return next((name for name in names if name in self.by_kind), None)

    def of(self, gpu_type: str, kind: str | None) -> float:
        own = self.by_kind.get(kind, {}) if kind is not None else {}
        return float(own.get(gpu_type, self.by_type.get(gpu_type, 1.0)))

    def added_to(self, cluster: Cluster) -> Cluster:
        """The same nodes with these speeds; types that are down now are left out."""
        here = set(cluster.gpu_types)
        by_kind = {
            kind: {name: factor for name, factor in factors.items() if name in here}
            for kind, factors in self.by_kind.items()
        }
        by_type = {name: factor for name, factor in self.by_type.items() if name in here}
        return replace(cluster, speed=by_type, kind_speed=by_kind)


def speeds_in(path: str) -> GpuSpeeds:
    """Of a cluster file; empty: all GPUs are alike."""
    if not path:
        return GpuSpeeds()
    from dovetail.traces.cluster_loader import load_cluster  # Polars takes a while to import

    cluster = load_cluster(Path(path))
    return GpuSpeeds(cluster.speed, cluster.kind_speed)
