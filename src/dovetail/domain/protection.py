"""How promises are kept: groups at risk go first after a while; if that does not do, Slurm rules.

A promise allows the waits of a group to grow by a part. Once much of that is used up, the group's
jobs go first after a part of the wait that the group has under Slurm. When all is used up by any
group, Slurm's own order rules, until enough is left again. Groups of few jobs have no percentile to
go by: their jobs go first after a part of what would be promised to them.

>>> late = Finding("size", "9-32 GPUs", "p95", jobs=500, baseline=1e4, value=10_700, bound=11_000)
>>> used(late), protect(PromiseCheck(kept=(late,))).limits
(0.7, {('size', '9-32 GPUs'): 3000.0})
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dovetail.domain.group_waits import P95, members_of
from dovetail.domain.jobs import Bools, Floats, Jobs
from dovetail.domain.promises import NO_PROMISE, Finding, PromiseCheck, Promises

PROTECT, RELEASE = 0.6, 0.3
"""Of the growth that is allowed: from the first on a group is protected, below the second not."""

HAND_BACK, RESUME = 1.0, 0.5
"""Likewise: from the first on Slurm's own order rules, below the second ours."""

PART = 0.3
"""Of the wait under Slurm, after which a job of a protected group goes first."""

RARE_PART = 0.5
"""Of the promised wait, after which a job of a rare group goes first: it needs time to start."""

SHORTEST_WAIT = 60.0
"""Seconds; a shorter wait makes nobody go first."""

Group = tuple[str, str]
"""Grouping and name: ("size", "9-32 GPUs")."""


@dataclass(frozen=True, slots=True)
class Protection:
    """What is done until the next look."""

    limits: Mapping[Group, float] = field(default_factory=dict)  # jobs go first after so long
    at_risk: tuple[Finding, ...] = ()  # while there are any, Slurm's own order rules instead


def used(finding: Finding) -> float:
    """The part of the allowed growth that a group's waits have grown by; 0: as under Slurm."""
    allowed = max(finding.bound - finding.baseline, 1e-9)
    return (finding.value - finding.baseline) / allowed


def protect(check: PromiseCheck, before: Protection | None = None) -> Protection:
    """What follows from how the promises stand, and from what was done before."""
    before = before or Protection()
    # Utilisation is of no group: no order mends it at once.
    judged = [finding for finding in (*check.broken, *check.kept) if finding.grouping]
    limits: dict[Group, float] = {}
    for finding in judged:
        group = finding.grouping, finding.name
        if used(finding) > (RELEASE if group in before.limits else PROTECT):
            limit = max(SHORTEST_WAIT, PART * finding.baseline)
            limits[group] = min(limit, limits.get(group, limit))
    most = RESUME if before.at_risk else HAND_BACK
    return Protection(limits, tuple(finding for finding in judged if used(finding) > most))


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
