"""The cluster of the Slurm experiment: as slurm.conf has it, and as the simulator knows it."""

from __future__ import annotations

from dovetail.domain.associations import ROOT, Association
from dovetail.domain.cluster import Cluster, Node, Partition
from dovetail.live.model.site import SiteSettings
from tests.live.slurm import SEED_LAYOUT

PEOPLE = (
    # user of the system's own, group, how busy
    ("games", "vision", 5), ("man", "vision", 2),
    ("lp", "language", 4), ("mail", "language", 3), ("news", "language", 1),
    ("uucp", "speech", 3), ("proxy", "speech", 1),
    ("backup", "robots", 1),
)  # fmt: skip
GROUPS = tuple(dict.fromkeys(group for _, group, _ in PEOPLE))
PARTITION = "gpu"
WEIGHTS = ("Age", "FairShare", "JobSize", "Partition", "QOS")
EQUAL = 1000
MAX_AGE = HALF_LIFE = "0-06:00:00"
"""Slurm's default is seven days for both; jobs here are a 25th of the published ones."""


def settings() -> dict[str, str]:
    """Slurm's priority settings, as `scontrol show config` words them."""
    weights = {f"PriorityWeight{name}": str(EQUAL) for name in WEIGHTS}
    return {**weights, "PriorityMaxAge": MAX_AGE, "PriorityDecayHalfLife": HALF_LIFE}


def cluster() -> Cluster:
    """The nodes, and how Slurm orders jobs for them."""
    nodes = tuple(
        Node(name, group.gpus, group.gpu, group.cpus, group.memory_mb / 1000)
        for group in SEED_LAYOUT
        for name in group.node_names()
    )
    every = Partition(PARTITION, frozenset(range(len(nodes))))
    site = SiteSettings(
        settings(),
        # root has an association without being asked for.
        (
            Association(ROOT, user="root"),
            *map(Association, GROUPS),
            *(Association(group, user=user) for user, group, _ in PEOPLE),
        ),
        billing={PARTITION: (("gpu", 1.0),)},
    )
    return site.added_to(Cluster(nodes, (every,), name="2x4:p100,2x2:k80,1x1:m40"))
