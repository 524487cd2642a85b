"""When jobs wait longer with us than they would without, Slurm gets its queue back."""

from __future__ import annotations

import math

from dovetail.domain.units import duration
from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Ruling, Situation, fallen_back, passed
from dovetail.live.guardrails.words import jobs
from dovetail.live.model.decision import Decision

NAME = "tripwire"

# Seconds; on an idle cluster ten times a wait of one second is nothing. The twin starts the next
# job at once, a real Slurm does not: 1.8 minutes against the twin's 1.1 once ended an active mode
# that was to halve the waits of the hours to come.
SHORTEST_WAIT = 600.0


def tripwire(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """Fall back when what is wanted gets worse than `trip_ratio` times the twin's Slurm alone.

    That is the mean wait, unless the objective weighs something else.
    """
    hours, compared = situation.active_hours, situation.compared_jobs
    actual, slurm = situation.actual_wait, situation.slurm_wait
    if hours < config.trip_hours or compared < config.trip_jobs:
        return passed(
            NAME,
            decision,
            f"{jobs(compared)} compared in {hours:.1f} h of active mode: too early to tell "
            f"(from {config.trip_jobs:,} jobs and {config.trip_hours:g} h)",
        )
    if math.isnan(actual) or math.isnan(slurm):
        return passed(NAME, decision, "waits in active mode are not known yet")
    measure = max(slurm, SHORTEST_WAIT)
    waits = (
        f"{jobs(compared)} waited {duration(actual)} on average, {duration(slurm)} with Slurm alone"
        + (f" (counted as {duration(measure)})" if measure > slurm else "")
    )
    ratio, said = actual / measure, f"{waits}: {actual / measure:.2f} times as long"
    if not math.isnan(situation.wanted):
        ratio = situation.wanted
        said = f"what the objective weighs is {ratio:.2f} times that of Slurm alone; {waits}"
    if ratio > config.trip_ratio:
        return fallen_back(NAME, decision, f"{said}, more than {config.trip_ratio:g}")
    return passed(NAME, decision, said)
