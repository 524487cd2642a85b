"""How promises are kept: while one is at risk, Slurm's own order rules.

A promise allows the waits of a group to grow by a part. When most of that is used up by any group,
jobs stand as Slurm has them, until enough is left again. Groups of few jobs have no percentile to
go by: their jobs go first after a part of what would be promised to them.

>>> late = Finding("size", "9-32 GPUs", "p95", jobs=500, baseline=1e4, value=10_900, bound=11_000)
>>> used(late), at_risk(PromiseCheck(kept=(late,))) == (late,)
(0.9, True)
"""

from __future__ import annotations

import numpy as np

from dovetail.domain.group_waits import P95, members_of
from dovetail.domain.jobs import Bools, Floats, Jobs
from dovetail.domain.promises import NO_PROMISE, Finding, PromiseCheck, Promises

HAND_BACK, RESUME = 0.8, 0.45
"""Of the growth that is allowed: from the first on Slurm's order rules, below the second ours."""

RARE_PART = 0.5
"""Of the promised wait, after which a job of a rare group goes first: it needs time to start."""

SHORTEST_WAIT = 60.0
"""Seconds; a shorter wait makes nobody go first."""

Group = tuple[str, str]
"""Grouping and name: ("size", "9-32 GPUs")."""


def used(finding: Finding) -> float:
    """The part of the allowed growth that a group's waits have grown by; 0: as under Slurm."""
    allowed = max(finding.bound - finding.baseline, 1e-9)
    return (finding.value - finding.baseline) / allowed


def at_risk(check: PromiseCheck, before: tuple[Finding, ...] = ()) -> tuple[Finding, ...]:
    """The promises because of which Slurm's order rules; `before`: those of the last look.

    Not those of utilisation, which no order mends at once.
    """
    most = RESUME if before else HAND_BACK
    judged = (*check.broken, *check.kept)
    return tuple(finding for finding in judged if finding.grouping and used(finding) > most)


def rare_limits(
    promises: Promises, jobs: Jobs, baseline: Floats, waits: Floats, rows: Bools | None = None
) -> dict[Group, float]:
    """Seconds of waiting after which jobs of each group with few jobs go first.

    Of such a group little is known: its baseline leans on those of the others.
    """
    limits: dict[Group, float] = {}
    for grouping in promises.groupings:
        if promises.allowed(grouping, "p95") == NO_PROMISE:
            continue
        groups = members_of(jobs, grouping, baseline, waits, rows)
        counts = [len(member) for _, member in groups]
        tails = [float(np.percentile(baseline[member], P95)) for _, member in groups]
        usual = float(np.average(tails, weights=counts)) if groups else 0.0
        for (name, _), count, tail in zip(groups, counts, tails, strict=True):
            if count < promises.least_jobs:
                known = count / promises.least_jobs
                pooled = known * tail + (1.0 - known) * usual
                bound = promises.bound(grouping, "p95", pooled)
                limits[grouping, name] = max(SHORTEST_WAIT, RARE_PART * bound)
    return limits
