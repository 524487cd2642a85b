"""A group that waits longer than promised goes first, and if that does not do, Slurm takes over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import JobColumns
from dovetail.domain.promises import PromiseCheck, Promises
from dovetail.domain.protection import Protection
from dovetail.live.backends.recorded import RecordedBackend
from dovetail.live.config import GuardrailConfig, LiveConfig, from_table
from dovetail.live.cycle.round import TwinComparison
from dovetail.live.guardrails.base import GuardrailOutcome, PromiseState
from dovetail.live.guardrails.promises import at_risk, promises
from dovetail.live.model.decision import Decision
from dovetail.live.model.mode import Mode
from dovetail.live.twin.promise_watch import look_at_promises
from dovetail.live.twin.replay import TwinWaits
from tests.live.guardrails.cases import HOUR, NOW, breach, situation_of, waiting
from tests.live.memory import full_cluster, steering_in_memory

CONFIG = GuardrailConfig()
LARGE = breach("size", "9-32 GPUs")  # 4 h under Slurm: 4.4 h promised, at risk after 2.2 h


def test_jobs_at_risk_go_first_the_longest_due_before_and_lost_ones_do_not() -> None:
    rows = [
        waiting(1, hours=9.0, gpus=1),
        waiting(2, hours=1.0, gpus=16),
        waiting(3, hours=3.0, gpus=16),
        waiting(4, hours=4.0, gpus=32),
        waiting(5, hours=5.0, gpus=32),  # longer than promised already
    ]
    ruling = promises(Decision((1, 2, 3, 4, 5)), situation_of(*rows, promises=LARGE), CONFIG)
    assert ruling.decision.order == (4, 3, 1, 2, 5)
    assert ruling.verdict.outcome is GuardrailOutcome.AMENDED
    assert "2 jobs at risk" in ruling.verdict.reason
    assert "9-32 GPUs waits no longer than promised" in ruling.decision.reasons[4]


def test_what_the_promise_leaves_free_goes_to_the_jobs_that_the_policy_takes_last() -> None:
    rows = [waiting(number, hours=3.0, gpus=16) for number in (1, 2, 3, 4)]
    order = (9, 3, 1, 4, 2)
    state = replace(breach("size", "9-32 GPUs", allowance=4.0), check=PromiseCheck())
    situation = situation_of(waiting(9, gpus=1), *rows, promises=state)
    ruling = promises(Decision(order), situation, CONFIG)
    assert ruling.decision.order == (1, 3, 9, 4, 2)  # half of the allowance: two are left
    assert "all kept" in ruling.verdict.reason


def test_jobs_lost_since_the_twin_looked_are_taken_off_the_allowance() -> None:
    part = Protection(limit=100.0, promised=200.0, allowance=4.0)
    jobs = [(1, 0.0), (2, 0.0), (3, 90.0), (4, 90.0), (5, 90.0)]  # since when they wait
    assert at_risk(jobs[2:], part, now=250.0, looked=100.0) == jobs[2:3]
    assert at_risk(jobs, part, now=250.0, looked=100.0) == jobs[2:4]
    assert at_risk(jobs, part, now=250.0, looked=240.0) == jobs[2:3]  # it had counted them


def test_all_groups_are_protected_at_once() -> None:
    small = breach("size", "1 GPU", baseline=HOUR)
    both = replace(LARGE, protections={**LARGE.protections, **small.protections})
    rows = [
        waiting(1, hours=0.7, gpus=1),
        waiting(2, hours=0.1, gpus=1),
        waiting(3, hours=3.0, gpus=16),
    ]
    ruling = promises(Decision((2, 1, 3)), situation_of(*rows, promises=both), CONFIG)
    assert ruling.decision.order == (3, 1, 2)


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


def waits_of(slurm: float, real: float, jobs: int = 100) -> TwinWaits:
    """Jobs of one size that all waited alike."""
    columns = JobColumns(submit=[0] * jobs, run=[1] * jobs, gpus=[16] * jobs).build()
    own = np.ones(jobs, np.bool_)
    before, after = np.full(jobs, slurm), np.full(jobs, real)
    return TwinWaits(columns, own, after, before, after, after, True, 0.0)


def test_the_breach_is_timed_from_its_first_sight_and_forgotten_when_it_is_over() -> None:
    promised, group = Promises(size_p95=0.1), ("size", "9-32 GPUs")
    first = look_at_promises(TwinComparison(), promised, waits_of(1e4, 2e4), 1000.0, NOW)
    later = look_at_promises(first, promised, waits_of(1e4, 2e4), 1000.0 + 5 * HOUR, NOW)
    assert later.promises is not None
    assert later.promises.hours == 5.0
    assert later.promises.protections == {group: Protection(5500.0, 11_000.0, -95.0)}
    over = look_at_promises(later, promised, waits_of(1e4, 1e4), 1000.0 + 6 * HOUR, NOW)
    assert over.promises is not None
    assert not over.promises.check.broken
    assert over.promises.protections[group].allowance == 5.0  # protected before a breach, too
    again = look_at_promises(over, promised, waits_of(1e4, 2e4), 1000.0 + 7 * HOUR, NOW)
    assert again.promises is not None
    assert again.promises.hours == 0.0


def test_a_group_of_few_jobs_is_protected_though_nothing_is_said_of_it() -> None:
    state = look_at_promises(
        TwinComparison(), Promises(size_p95=0.1), waits_of(1e4, 9e4, jobs=3), 0.0, NOW
    ).promises
    assert state is not None
    assert not state.check.broken
    assert state.protections["size", "9-32 GPUs"].allowance < 0


def test_what_the_twin_misses_of_slurm_is_not_held_against_us() -> None:
    promised = Promises(size_p95=0.1)
    known = TwinComparison(bias=2.0)
    state = look_at_promises(known, promised, waits_of(1e4, 2e4), 0.0, NOW).promises
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
    state = breach("size", "2-4 GPUs", baseline=3 * HOUR)
    with steering_in_memory(RecordedBackend(cluster), tmp_path, policy="sjf") as controller:
        controller.cycle()
        assert controller.plan is not None
        assert controller.plan.decision.order == (short, long)  # the policy's own
        controller.comparison = replace(controller.comparison, promises=state)
        controller.cycle()
        # Both are at risk, alike in group: the one that came first goes first.
        assert controller.plan.decision.order == (long, short)
        said = [v for v in controller.plan.verdicts if v.guardrail == "promises"]
        assert said[0].outcome is GuardrailOutcome.AMENDED
        controller.comparison = replace(controller.comparison, promises=replace(state, hours=99.0))
        report = controller.cycle()
        assert controller.mode is Mode.SHADOW
        assert "promises broken for 99.0 h" in report.sentence
        assert not controller.actuator.owes
