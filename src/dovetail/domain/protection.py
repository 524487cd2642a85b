"""Groups whose promise is broken are protected: their jobs go first after so long a wait.

Why only these groups, and only after a while: on two traces, jobs of *every* group going first
after its 95th percentile lost 27 and 76 % of the gain in mean wait, as overdue large jobs empty the
cluster; protecting the groups in breach cost 9 and 4 % (docs/decisions/0046).

>>> from dovetail.domain.promises import Finding, PromiseCheck
>>> late = Finding("size", "9-32 GPUs", "p95", jobs=500, baseline=1e4, value=2e4, bound=1.1e4)
>>> wait_limits(PromiseCheck(broken=(late,)))
{('size', '9-32 GPUs'): 3000.0}
"""

from __future__ import annotations

from dovetail.domain.promises import PromiseCheck

PART = 0.3
"""Of the wait under Slurm, after which a job of a protected group goes first.

0.3 and 0.6 both kept the promises of Philly and Venus, 0.9 did not: a large job needs time to
start from the head of the queue, too.
"""

SHORTEST_WAIT = 60.0
"""Seconds; a shorter wait makes nobody go first."""

Group = tuple[str, str]
"""Grouping and name: ("size", "9-32 GPUs")."""


def wait_limits(check: PromiseCheck) -> dict[Group, float]:
    """Seconds of waiting after which the jobs of each group in breach go first."""
    limits: dict[Group, float] = {}
    for finding in check.broken:
        if finding.grouping:
            group = finding.grouping, finding.name
            limit = max(SHORTEST_WAIT, PART * finding.baseline)
            limits[group] = min(limit, limits.get(group, limit))
    return limits
