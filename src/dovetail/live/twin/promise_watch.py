"""How promises stand in active mode: waits as they are against the twin's for Slurm alone."""

from __future__ import annotations

import math
from dataclasses import replace

from dovetail.domain.group_waits import group_waits
from dovetail.domain.promises import Promises
from dovetail.domain.protection import at_risk, rare_limits
from dovetail.live.cycle.round import TwinComparison
from dovetail.live.guardrails.base import PromiseState
from dovetail.live.twin.replay import TwinWaits

HOUR = 3600.0


def look_at_promises(
    before: TwinComparison, promises: Promises, waits: TwinWaits, steady: float
) -> TwinComparison:
    """The comparison with the state of the promises.

    The twin's waits are lengthened by the bias that shadow mode has shown, as for the trip-wire.
    """
    if not promises:
        return replace(before, promises=None, promises_since=math.nan)
    jobs, slurm = waits.jobs, waits.slurm * before.bias
    check = promises.check(group_waits(jobs, slurm, waits.real, promises.groupings, waits.own))
    since = math.nan
    if check.broken:
        since = steady if math.isnan(before.promises_since) else before.promises_since
    state = PromiseState(
        check,
        at_risk(check, before.promises.at_risk if before.promises else ()),
        rare_limits(promises, jobs, slurm, waits.real, waits.own),
        hours=0.0 if math.isnan(since) else (steady - since) / HOUR,
    )
    return replace(before, promises=state, promises_since=since)
