"""What ended jobs tell of the lengths of others: predictions, and how far to trust estimates.

Belief. Within a group (jobs of one kind and class), the logarithm y of true lengths is regressed on
the logarithm x of estimated ones, with PRIOR made-up jobs whose estimates are exact: without
history an estimate is trusted, and where estimates prove to be exact it stays so. What the line
gives instead of the estimate is the `likely` length, and the deviation around it the `spread`.

Overruns. A job that is still running at its estimated end is expected to take twice as long as it
was, and so on: as in the cluster simulator.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner, kernel
from dovetail.mig.simulator.rows import (
    NOBODY,
    MigWorld,
    SlotRow,
    ended,
    need,
    task,
)
from dovetail.mig.workload.estimates import FIRST_GUESS

PRIOR = 2.0
"""Made-up jobs with exact estimates, of variance 1."""

SURE = 1e-9
"""A spread below this is none."""

LEAST = 1e-9
"""Share of a job: something is left, as long as it has not ended."""

SHORTEST = 1e-3
"""Seconds: doubling must end."""

FAR = 5.0
"""Deviations beyond which the tail's own form is used: the ratio of two tiny numbers is noise."""


@inner
def forget(w: MigWorld) -> None:
    """Nothing has ended yet."""
    for row in range(w.group_count + 1):
        one = ended(w, row)
        one.count = one.x = one.y = one.xx = one.xy = one.yy = 0.0


@inner
def tell(w: MigWorld, job: int) -> None:
    """Fix what is told of a job that arrives."""
    mine, told = task(w, job), need(w, job).told
    if math.isnan(told):
        told = _predicted(w, need(w, job).group) / need(w, job).length
    mine.told = told


@inner
def _predicted(w: MigWorld, group: int) -> float:
    """The geometric mean of the lengths of ended jobs of the group, or of all."""
    mine, everyone = ended(w, group), ended(w, 0)
    if mine.count > 0.0:
        return math.exp(mine.y / mine.count)
    if everyone.count > 0.0:
        return math.exp(everyone.y / everyone.count)
    return FIRST_GUESS


@inner
def note(w: MigWorld, job: int) -> None:
    """A job has ended: its length is known."""
    length = need(w, job).length
    x, y = math.log(length * task(w, job).told), math.log(length)
    for place in range(2):
        one = ended(w, need(w, job).group * place)
        one.count += 1.0
        one.x += x
        one.y += y
        one.xx += x * x
        one.xy += x * y
        one.yy += y * y


@inner
def believe(w: MigWorld, job: int) -> tuple[float, float]:
    """The likely length as a factor of the estimate, and the deviation of its logarithm."""
    one = ended(w, need(w, job).group)
    if one.count == 0.0:
        return 1.0, 0.0
    n = one.count
    xx = PRIOR + max(0.0, one.xx - one.x * one.x / n)
    xy = PRIOR + (one.xy - one.x * one.y / n)
    yy = PRIOR + max(0.0, one.yy - one.y * one.y / n)
    slope = xy / xx
    x = math.log(need(w, job).length * task(w, job).told)
    shift = (one.y - one.x) / (n + PRIOR) + (slope - 1.0) * (x - one.x / n)
    variance = max(0.0, yy - slope * xy) / (n + PRIOR)
    return math.exp(shift), math.sqrt(variance)


@inner
def start(w: MigWorld, job: int, whole: float) -> None:
    """A job starts on a slice that takes so many seconds for all of it, by estimate."""
    mine = task(w, job)
    length = whole * mine.thought
    factor, spread = believe(w, job)
    mine.expected, mine.rest_at = w.now + length, -math.inf
    mine.likely, mine.spread = length * factor, spread


@inner
def expected_end(w: MigWorld, here: SlotRow) -> float:
    """When a slot is free by estimate (inf: it is); an end that has passed is put off."""
    if here.job == NOBODY:
        return math.inf
    mine = task(w, here.job)
    if mine.expected <= w.now:
        length = max(SHORTEST, mine.expected - here.begun)
        while here.begun + length <= w.now:
            length *= 2.0
        mine.expected = here.begun + length
    return mine.expected


@inner
def interrupt(w: MigWorld, here: SlotRow, whole: float) -> None:
    """A job is sent back: what is left of it by estimate."""
    mine = task(w, here.job)
    late = mine.expected <= w.now
    end = expected_end(w, here)
    if late:
        mine.thought = (end - w.now) / whole
    else:
        mine.thought = max(LEAST, mine.thought - (w.now - here.begun) / whole)


@inner
def rest(w: MigWorld, here: SlotRow) -> float:
    """Seconds that the job of a slot is likely to go on, given how long it has run."""
    mine = task(w, here.job)
    if mine.rest_at != w.now:
        mine.rest_at = w.now
        if mine.spread < SURE:
            mine.rest = expected_end(w, here) - w.now
        else:
            mine.rest = mean_rest(mine.likely, mine.spread, w.now - here.begun)
    return mine.rest


@kernel
def mean_rest(median: float, spread: float, run: float) -> float:
    """The mean of what is left of a lognormal length that has lasted for so long."""
    if run <= 0.0:
        return median * math.exp(0.5 * spread * spread)
    off = math.log(run / median) / spread
    if off > FAR:
        return run * spread / off
    mean = median * math.exp(0.5 * spread * spread)
    return mean * below(spread - off) / below(-off) - run


@kernel
def below(deviations: float) -> float:
    """The normal distribution's share below so many deviations."""
    return 0.5 * math.erfc(-deviations * 0.7071067811865476)
