"""A group that waits longer than promised goes first, and if that does not do, Slurm takes over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.domain.errors import ConfigError
from dovetail.domain.group_waits import GroupWaits
from dovetail.domain.promises import Promises
from dovetail.live.backends.recorded import RecordedBackend
from dovetail.live.config import GuardrailConfig, LiveConfig, from_table
from dovetail.live.cycle.round import TwinComparison
from dovetail.live.guardrails.base import GuardrailOutcome, PromiseState
from dovetail.live.guardrails.promises import promises
from dovetail.live.model.decision import Decision
from dovetail.live.model.mode import Mode
from dovetail.live.twin.promise_watch import look_at_promises
from tests.live.guardrails.cases import HOUR, breach, situation_of, waiting
from tests.live.memory import full_cluster, steering_in_memory

CONFIG = GuardrailConfig()
LARGE = breach("size", "9-32 GPUs")  # 4 h under Slurm: overdue after 1.2 h


def test_overdue_jobs_of_a_group_in_breach_go_first_the_longest_overdue_before() -> None:
    rows = [
        waiting(1, hours=9.0, gpus=1),
        waiting(2, hours=1.0, gpus=16),
        waiting(3, hours=2.0, gpus=16),
        waiting(4, hours=5.0, gpus=32),
    ]
    ruling = promises(Decision((1, 2, 3, 4)), situation_of(*rows, promises=LARGE), CONFIG)
    assert ruling.decision.order == (4, 3, 1, 2)
    assert ruling.verdict.outcome is GuardrailOutcome.AMENDED
    assert "9-32 GPUs" in ruling.verdict.reason
    assert "2 jobs" in ruling.verdict.reason
    assert "longer than promised" in ruling.decision.reasons[4]


def test_jobs_that_could_not_start_at_the_head_either_are_not_lifted() -> None:
    rows = [waiting(1, gpus=1), waiting(2, hours=9.0, gpus=16, reason="QOSMaxJobsPerUserLimit")]
    ruling = promises(Decision((1, 2)), situation_of(*rows, promises=LARGE), CONFIG)
    assert ruling.verdict.outcome is GuardrailOutcome.PASS
    assert ruling.decision.order == (1, 2)


def test_promises_that_stay_broken_give_the_queue_back() -> None:
    lasting = replace(LARGE, hours=CONFIG.promise_hours)
    ruling = promises(Decision(()), situation_of(promises=lasting), CONFIG)
    assert ruling.verdict.outcome is GuardrailOutcome.FALL_BACK
    assert "24.0 h" in ruling.verdict.reason


def test_where_nothing_is_promised_nothing_is_done() -> None:
    for state in (None, PromiseState()):
        ruling = promises(Decision(()), situation_of(promises=state), CONFIG)
        assert ruling.verdict.outcome is GuardrailOutcome.PASS


def group(baseline: float, value: float, jobs: int = 100) -> GroupWaits:
    return GroupWaits("size", "9-32 GPUs", jobs, baseline, value, baseline, value)


def test_the_breach_is_timed_from_its_first_sight_and_forgotten_when_it_is_over() -> None:
    promised = Promises(size_p95=0.1)
    first = look_at_promises(TwinComparison(), promised, [group(1e4, 2e4)], 1000.0)
    later = look_at_promises(first, promised, [group(1e4, 2e4)], 1000.0 + 5 * HOUR)
    assert later.promises is not None
    assert later.promises.hours == 5.0
    assert later.promises.limits == {("size", "9-32 GPUs"): 3000.0}
    over = look_at_promises(later, promised, [group(1e4, 1e4)], 1000.0 + 6 * HOUR)
    assert over.promises is not None
    assert not over.promises.check.broken
    again = look_at_promises(over, promised, [group(1e4, 2e4)], 1000.0 + 7 * HOUR)
    assert again.promises is not None
    assert again.promises.hours == 0.0


def test_what_the_twin_misses_of_slurm_is_not_held_against_us() -> None:
    promised = Promises(size_p95=0.1)
    known = TwinComparison(bias=2.0)
    state = look_at_promises(known, promised, [group(1e4, 2e4)], 0.0).promises
    assert state is not None
    assert not state.check.broken


def test_promises_are_a_table_of_the_configuration_and_unknown_keys_are_errors() -> None:
    config = from_table(LiveConfig, {"promises": {"size_p95": 0.1, "least_jobs": 50}}, "a file")
    assert config.promises == Promises(size_p95=0.1, least_jobs=50)
    with pytest.raises(ConfigError, match="size_p99"):
        from_table(LiveConfig, {"promises": {"size_p99": 0.1}}, "a file")
    with pytest.raises(ConfigError, match="objective"):
        from_table(LiveConfig, {"objective": {"wait": -1.0}}, "a file")


def test_in_memory_a_group_in_breach_is_lifted_journaled_and_at_last_given_back(
    tmp_path: Path,
) -> None:
    cluster, (long, short) = full_cluster([300, 10])
    cluster.advance(2 * HOUR)
    state = breach("size", "2-4 GPUs", baseline=HOUR)
    with steering_in_memory(RecordedBackend(cluster), tmp_path, policy="sjf") as controller:
        controller.cycle()
        assert controller.plan is not None
        assert controller.plan.decision.order == (short, long)  # the policy's own
        controller.comparison = replace(controller.comparison, promises=state)
        controller.cycle()
        # Both are overdue, alike in group: the one that came first goes first.
        assert controller.plan.decision.order == (long, short)
        said = [v for v in controller.plan.verdicts if v.guardrail == "promises"]
        assert said[0].outcome is GuardrailOutcome.AMENDED
        controller.comparison = replace(controller.comparison, promises=replace(state, hours=99.0))
        report = controller.cycle()
        assert controller.mode is Mode.SHADOW
        assert "promises broken for 99.0 h" in report.sentence
        assert not controller.actuator.owes
