"""The objective acts: the trip-wire weighs what is wanted; what nobody could weigh is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dovetail.domain.errors import ConfigError
from dovetail.domain.objective import Objective
from dovetail.live.config import GuardrailConfig, LiveConfig, from_table
from dovetail.live.guardrails.base import GuardrailOutcome, Situation
from dovetail.live.guardrails.tripwire import tripwire
from dovetail.live.model.decision import Decision
from dovetail.live.model.snapshot import Snapshot
from dovetail.live.twin.wanted import wanted_ratio

SLURM = {"wait_mean": 3600.0, "wait_p95": 7200.0, "bsld_mean": 4.0}
# Half the mean wait, paid by the last twentieth.
OURS = {"wait_mean": 1800.0, "wait_p95": 14_400.0, "bsld_mean": 2.0}
SITUATION = Situation(
    Snapshot(0.0, (), ()), 0.0, None, {}, 0.1,
    actual_wait=1800.0, slurm_wait=3600.0, active_hours=9.0, compared_jobs=500,
)  # fmt: skip


@pytest.mark.parametrize(
    ("objective", "outcome"),
    [
        (Objective(), GuardrailOutcome.PASS),
        (Objective(slowdown=1.0), GuardrailOutcome.PASS),
        (Objective(wait=0.0, tail=1.0), GuardrailOutcome.FALL_BACK),
        (Objective(wait=1.0, tail=3.0), GuardrailOutcome.FALL_BACK),
    ],
)
def test_the_trip_wire_weighs_what_is_wanted(
    objective: Objective, outcome: GuardrailOutcome
) -> None:
    wanted = wanted_ratio(objective, SLURM, OURS)
    ruling = tripwire(Decision(()), replace(SITUATION, wanted=wanted), GuardrailConfig())
    assert ruling.verdict.outcome is outcome


def test_short_waits_count_as_ten_minutes() -> None:
    short = {"wait_mean": 1.0, "wait_p95": 2.0, "bsld_mean": 1.0}
    longer = {"wait_mean": 300.0, "wait_p95": 500.0, "bsld_mean": 1.0}
    assert wanted_ratio(Objective(tail=1.0), short, longer) == 1.0


@pytest.mark.parametrize("what", ["makespan", "utilisation"])
def test_what_no_running_cluster_has_is_refused(what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        from_table(LiveConfig, {"objective": {what: 1.0}}, "a file")


def test_a_promise_of_utilisation_that_nothing_would_keep_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"promises.utilisation is 0.1, expected none: .* enforce"
    ):
        from_table(LiveConfig, {"promises": {"utilisation": 0.1, "size_p95": 0.1}}, "a file")
