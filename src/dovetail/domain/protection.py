"""What a promise leaves free, and after what wait the other jobs of a group go first.

A promise on a 95th percentile leaves one job in twenty free: so many may wait longer than promised.
While few have, the policy goes unhindered. As the allowance is spent, jobs that have waited a part
of what is promised go first, of all groups at once and before a promise is broken.

>>> from dovetail.domain.jobs import JobColumns
>>> jobs = JobColumns(submit=[0] * 100, run=[1] * 100, gpus=[16] * 100).build()
>>> slurm, ours = np.full(100, 1000.0), np.where(np.arange(100) < 2, 5000.0, 10.0)
>>> protections(Promises(size_p95=0.1), jobs, slurm, ours)
{('size', '9-32 GPUs'): Protection(limit=550.0, promised=1100.0, allowance=3.0)}
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dovetail.domain.group_waits import P95, members_of
from dovetail.domain.jobs import Bools, Floats, Jobs
from dovetail.domain.promises import NO_PROMISE, Promises

PART = 0.5
"""Of the promised wait, after which a job goes first: a large one needs time to start then, too."""

SPARED = 0.5
"""Of what is left of the allowance, that may be at risk at any time."""

FREE = 1.0 - P95 / 100
"""Jobs of a group that a promise on its 95th percentile leaves free."""

SHORTEST_WAIT = 60.0
"""Seconds; a shorter wait makes nobody go first."""

Group = tuple[str, str]
"""Grouping and name: ("size", "9-32 GPUs")."""


class Protection(NamedTuple):
    """How the jobs of one group are kept from waiting longer than promised."""

    limit: float  # seconds of waiting after which a job goes first
    promised: float  # seconds; a job that has waited longer is one of those left free
    allowance: float  # jobs that may still wait longer than promised; below 0: too many have

    def spared(self, lost: int) -> int:
        """Jobs past the limit that may be left where the policy wants them.

        lost: jobs that came to wait longer than promised since the allowance was counted.
        """
        return int(SPARED * max(0.0, self.allowance - lost))


def protections(
    promises: Promises, jobs: Jobs, baseline: Floats, waits: Floats, rows: Bools | None = None
) -> dict[Group, Protection]:
    """Of every group that something is promised to; waits per job, under Slurm and as they are.

    Of a group with few jobs little is known: its baseline leans on those of the others.
    """
    found: dict[Group, Protection] = {}
    for grouping in promises.groupings:
        groups = members_of(jobs, grouping, baseline, waits, rows)
        counts = np.array([len(member) for _, member in groups], np.float64)
        tails = np.array([np.percentile(baseline[member], P95) for _, member in groups])
        usual = float(np.average(tails, weights=counts)) if groups else 0.0
        for (name, member), tail in zip(groups, tails.tolist(), strict=True):
            known = min(1.0, len(member) / promises.least_jobs)
            found[grouping, name] = _protection(
                promises, grouping, baseline[member], waits[member],
                known * tail + (1.0 - known) * usual,
            )  # fmt: skip
    return found


def _protection(
    promises: Promises, grouping: str, baseline: Floats, waits: Floats, tail: float
) -> Protection:
    """The stricter of what keeps the 95th percentile, and the mean where that is broken."""
    limit = promised = allowance = math.inf
    if promises.allowed(grouping, "p95") < NO_PROMISE:
        promised = promises.bound(grouping, "p95", tail)
        limit = max(SHORTEST_WAIT, PART * promised)
        allowance = FREE * len(waits) - float(np.count_nonzero(waits > promised))
    mean = float(baseline.mean())
    bound = promises.bound(grouping, "mean", mean)
    if len(waits) >= promises.least_jobs and float(waits.mean()) > bound:
        limit, promised, allowance = max(SHORTEST_WAIT, PART * mean), math.inf, 0.0
    return Protection(limit, promised, round(allowance, 9))
