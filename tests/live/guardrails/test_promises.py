"""A group that waits longer than promised goes first, and if that does not do, Slurm takes over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import JobColumns
from dovetail.domain.promises import Promises
from dovetail.live.backends.recorded import RecordedBackend
from dovetail.live.config import GuardrailConfig, LiveConfig, from_table
from dovetail.live.cycle.round import TwinComparison
from dovetail.live.guardrails.base import GuardrailOutcome, PromiseState
from dovetail.live.guardrails.promises import promises
from dovetail.live.model.decision import Decision
from dovetail.live.model.mode import Mode
from dovetail.live.twin.promise_watch import look_at_promises
from dovetail.live.twin.replay import TwinWaits
from tests.live.guardrails.cases import HOUR, breach, rare, situation_of, waiting
from tests.live.memory import full_cluster, steering_in_memory

CONFIG = GuardrailConfig()
LARGE = rare("size", "9-32 GPUs")  # its jobs go first after 1.2 h


def test_overdue_jobs_of_a_rare_group_go_first_the_longest_overdue_before() -> None:
    rows = [
        waiting(1, hours=9.0, gpus=1),
        waiting(2, hours=1.0, gpus=16),
        waiting(3, hours=2.0, gpus=16),
        waiting(4, hours=5.0, gpus=32),
    ]
    ruling = promises(Decision((1, 2, 3, 4)), situation_of(*rows, promises=LARGE), CONFIG)
    assert ruling.decision.order == (4, 3, 1, 2)
    assert ruling.verdict.outcome is GuardrailOutcome.AMENDED
    assert "2 jobs of rare groups" in ruling.verdict.reason
    assert "9-32 GPUs is rare" in ruling.decision.reasons[4]


def test_when_a_promise_is_used_up_slurms_own_order_rules() -> None:
    rows = [waiting(1, own=10, gpus=1), waiting(2, own=30, gpus=16), waiting(3, own=20, gpus=1)]
    state = breach("size", "9-32 GPUs")
    ruling = promises(Decision((1, 3, 2)), situation_of(*rows, promises=state), CONFIG)
    assert ruling.decision.order == (2, 3, 1)
    assert "Slurm's own order" in ruling.verdict.reason
    already = promises(Decision((2, 3, 1)), situation_of(*rows, promises=state), CONFIG)
    assert already.verdict.outcome is GuardrailOutcome.PASS


def test_jobs_that_could_not_start_at_the_head_either_are_not_lifted() -> None:
    rows = [waiting(1, gpus=1), waiting(2, hours=9.0, gpus=16, reason="QOSMaxJobsPerUserLimit")]
    ruling = promises(Decision((1, 2)), situation_of(*rows, promises=LARGE), CONFIG)
    assert ruling.verdict.outcome is GuardrailOutcome.PASS
    assert ruling.decision.order == (1, 2)


def test_promises_that_stay_broken_give_the_queue_back() -> None:
    lasting = replace(breach("size", "9-32 GPUs"), hours=CONFIG.promise_hours)
    ruling = promises(Decision(()), situation_of(promises=lasting), CONFIG)
    assert ruling.verdict.outcome is GuardrailOutcome.FALL_BACK
    assert "24.0 h" in ruling.verdict.reason


def test_where_nothing_is_promised_nothing_is_done() -> None:
    for state in (None, PromiseState()):
        ruling = promises(Decision(()), situation_of(promises=state), CONFIG)
        assert ruling.verdict.outcome is GuardrailOutcome.PASS


def waits_of(slurm: float, real: float, jobs: int = 100) -> TwinWaits:
    """Jobs of one size that all waited alike."""
    columns = JobColumns(submit=[0] * jobs, run=[1] * jobs, gpus=[16] * jobs).build()
    own = np.ones(jobs, np.bool_)
    before, after = np.full(jobs, slurm), np.full(jobs, real)
    return TwinWaits(columns, own, after, before, after, after, True, 0.0)


def looked(real: float, before: TwinComparison, steady: float = 0.0) -> TwinComparison:
    return look_at_promises(before, Promises(size_p95=0.1), waits_of(1e4, real), steady)


def test_the_breach_is_timed_from_its_first_sight_and_forgotten_when_it_is_over() -> None:
    first = looked(2e4, TwinComparison(), 1000.0)
    later = looked(2e4, first, 1000.0 + 5 * HOUR)
    assert later.promises is not None
    assert later.promises.hours == 5.0
    over = looked(1e4, later, 1000.0 + 6 * HOUR)
    assert over.promises is not None
    assert not over.promises.check.broken
    again = looked(2e4, over, 1000.0 + 7 * HOUR)
    assert again.promises is not None
    assert again.promises.hours == 0.0


@pytest.mark.parametrize(
    ("waits", "slurm_rules"),
    [
        ((10_700.0,), False),
        ((10_900.0,), True),  # nine tenths of what is allowed
        ((10_900.0, 10_600.0), True),  # ours again below 0.45 only
        ((10_900.0, 10_400.0), False),
        ((10_900.0, 10_400.0, 10_600.0), False),
    ],
)
def test_slurms_order_rules_before_a_breach_and_until_enough_is_left(
    waits: tuple[float, ...], slurm_rules: bool
) -> None:
    now = TwinComparison()
    for real in waits:
        now = looked(real, now)
    assert now.promises is not None
    assert bool(now.promises.at_risk) is slurm_rules


def test_a_group_of_few_jobs_is_protected_though_nothing_is_said_of_it() -> None:
    few = waits_of(1e4, 9e4, jobs=3)
    state = look_at_promises(TwinComparison(), Promises(size_p95=0.1), few, 0.0).promises
    assert state is not None
    assert not state.check.broken
    assert state.rare == {("size", "9-32 GPUs"): 5500.0}


def test_what_the_twin_misses_of_slurm_is_not_held_against_us() -> None:
    state = looked(2e4, TwinComparison(bias=2.0)).promises
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
    state = rare("size", "2-4 GPUs")
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
        lasting = replace(breach("size", "2-4 GPUs"), hours=99.0)
        controller.comparison = replace(controller.comparison, promises=lasting)
        report = controller.cycle()
        assert controller.mode is Mode.SHADOW
        assert "promises broken for 99.0 h" in report.sentence
        assert not controller.actuator.owes
