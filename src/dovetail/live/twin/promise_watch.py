"""How promises stand in active mode: waits as they were against the twin's for Slurm alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from dovetail.domain.group_waits import GroupWaits
from dovetail.domain.promises import Promises
from dovetail.domain.protection import wait_limits
from dovetail.live.cycle.round import TwinComparison
from dovetail.live.guardrails.base import PromiseState

HOUR = 3600.0


def look_at_promises(
    before: TwinComparison, promises: Promises, groups: Iterable[GroupWaits], steady: float
) -> TwinComparison:
    """The comparison with the state of the promises; `groups`: the twin's Slurm, then as it was.

    The twin starts the next job at once, a real Slurm does not: its waits are lengthened by the
    bias that shadow mode has shown, as for the trip-wire.
    """
    if not promises:
        return replace(before, promises=None, promises_since=math.nan)
    check = promises.check(_lengthened(group, before.bias) for group in groups)
    if not check.broken:
        return replace(before, promises=PromiseState(check), promises_since=math.nan)
    since = steady if math.isnan(before.promises_since) else before.promises_since
    state = PromiseState(check, wait_limits(check), (steady - since) / HOUR)
    return replace(before, promises=state, promises_since=since)


def _lengthened(group: GroupWaits, bias: float) -> GroupWaits:
    return replace(
        group,
        baseline_mean=group.baseline_mean * bias,
        baseline_p95=group.baseline_p95 * bias,
    )
