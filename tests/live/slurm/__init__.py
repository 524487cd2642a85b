"""A throw-away real Slurm cluster on this machine: no root, no containers, no services.

    with Cluster(Options(nodes=(NodeGroup("p100", count=2, gpus=4),))) as cluster:
        job = cluster.submit(gpus=2, seconds=1, name="first")
        cluster.wait_for("COMPLETED", job)

    cluster.controller.kill(); cluster.slurmd["p100-1"].pause()    # failures
    cluster.run(["dovetail", ...])                                 # in its environment and time

All daemons listen on loopback only, on ports of their own, so that several clusters can live side
by side. `why_not(options)` says why none can be started here.
"""

from tests.live.slurm.availability import why_not
from tests.live.slurm.clients import Job
from tests.live.slurm.cluster import Cluster
from tests.live.slurm.daemons import Daemon, SlurmProblem
from tests.live.slurm.options import (
    SEED_LAYOUT,
    SMALL_LAYOUT,
    Account,
    Accounting,
    NodeGroup,
    Options,
    Partition,
    Qos,
    RestAccess,
    User,
)
from tests.live.slurm.records import Completed

__all__ = [
    "SEED_LAYOUT",
    "SMALL_LAYOUT",
    "Account",
    "Accounting",
    "Cluster",
    "Completed",
    "Daemon",
    "Job",
    "NodeGroup",
    "Options",
    "Partition",
    "Qos",
    "RestAccess",
    "SlurmProblem",
    "User",
    "why_not",
]
