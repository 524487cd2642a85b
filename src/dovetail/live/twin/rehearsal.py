"""The twin on a few jobs of nobody: compiles what its first look would else hold a cycle up with.

>>> rehearse_twin(Policy("saf"), SiteSettings())
12
"""

from __future__ import annotations

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import LIMIT, Estimates
from dovetail.domain.jobs import JobColumns
from dovetail.domain.trace import Trace
from dovetail.live.model.site import SiteSettings
from dovetail.live.twin.order import order_of, slurm_order
from dovetail.live.twin.replay import twin_waits
from dovetail.policies.policy import Policy
from dovetail.prediction import HISTORY
from dovetail.simulator import simulate

JOBS = 12
"""Enough for a comparison."""


def rehearse_twin(policy: Policy, site: SiteSettings) -> int:
    """How many jobs it compared; on a cluster with the site's settings, as the looks will be."""
    cluster = site.added_to(Cluster.parse("2x2"))
    limit = [900.0] * JOBS
    jobs = JobColumns(
        submit=[60.0 * number for number in range(JOBS)],
        run=[600.0] * JOBS,
        gpus=[1] * JOBS,
        limit=limit,
        user=["nobody"] * JOBS,
    ).build()
    slurm = slurm_order(cluster)
    recorded = simulate(
        Trace(jobs, "rehearsal"), cluster, slurm.ordering, slurm.placement, slurm.backfill,
        Estimates(LIMIT, np.array(limit)), HISTORY,
    )  # fmt: skip
    waits = twin_waits(recorded, 0.0, order_of(policy), slurm, float(recorded.end.max()))
    return int(waits.own.sum())
