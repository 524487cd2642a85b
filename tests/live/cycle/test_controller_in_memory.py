"""Steering when messages get lost, answers come late, clocks jump and rights are gone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from dovetail.domain.errors import ConfigError
from dovetail.live.backends.recorded import Fault, MemoryCluster, RecordedBackend
from dovetail.live.backends.recorded.backend import ReadFault
from dovetail.live.config import ActConfig, GuardrailConfig
from dovetail.live.cycle.controller import REFRESH
from dovetail.live.cycle.trouble import unbelievable
from dovetail.live.model.mode import Mode
from dovetail.live.service.daemon import Daemon
from tests.live.journal.builders import at, waiting
from tests.live.memory import full_cluster, memory_config, steering_in_memory

LIMITS = [50, 20, 40, 10, 30]


def test_jobs_wait_in_our_order_and_leaving_puts_every_factor_back(tmp_path: Path) -> None:
    cluster, jobs = full_cluster(LIMITS)
    with steering_in_memory(RecordedBackend(cluster), tmp_path) as controller:
        assert controller.cycle().failed == 0
        order = sorted(jobs, key=lambda job: -cluster.priority(job))
        assert order == [jobs[3], jobs[1], jobs[4], jobs[2], jobs[0]]
        assert "put back" in controller.leave("the test says so")
        assert not cluster.site
        assert not controller.owes


def test_shadow_sends_nothing(tmp_path: Path) -> None:
    cluster, _ = full_cluster(LIMITS)
    backend = RecordedBackend(cluster)
    with steering_in_memory(backend, tmp_path, Mode.SHADOW) as controller:
        assert "would bring it about" in controller.cycle().sentence
    assert backend.sent == []


@pytest.mark.parametrize("fault", list(Fault))
def test_whatever_becomes_of_a_message_nothing_is_left_behind(tmp_path: Path, fault: Fault) -> None:
    cluster, _ = full_cluster(LIMITS)
    backend = RecordedBackend(cluster, [fault])
    with steering_in_memory(backend, tmp_path) as controller:
        controller.cycle()
        controller.cycle()
        controller.leave("the test says so")
        backend.deliver()
        # In shadow mode, too, every cycle looks for what is ours; the daemon then settles.
        controller.cycle()
        if controller.owes:
            controller.settle()
        assert not cluster.site


@pytest.mark.parametrize("fault", list(Fault))
def test_a_daemon_that_was_killed_is_cleaned_up_after(tmp_path: Path, fault: Fault) -> None:
    cluster, _ = full_cluster(LIMITS)
    backend = RecordedBackend(cluster, [fault])
    with steering_in_memory(backend, tmp_path) as controller:
        controller.cycle()  # and then it is killed
    backend.deliver()
    with steering_in_memory(backend, tmp_path, Mode.SHADOW) as controller:
        assert controller.owes or not cluster.site
        controller.settle()
        assert not cluster.site
        assert not controller.owes


def test_what_an_operator_sets_meanwhile_stays_his(tmp_path: Path) -> None:
    cluster, jobs = full_cluster(LIMITS)
    with steering_in_memory(RecordedBackend(cluster), tmp_path) as controller:
        controller.cycle()
        cluster.set_site(jobs[0], 1234)
        cluster.hold(jobs[1])
        controller.cycle()
        assert controller.plan is not None
        assert {jobs[0], jobs[1]} <= controller.plan.decision.untouched.keys()
        controller.leave("the test says so")
    assert cluster.site == {jobs[0]: 1234}


def test_an_operator_who_freezes_a_job_leaves_no_factor_of_ours_behind(tmp_path: Path) -> None:
    cluster, jobs = full_cluster(LIMITS)
    with steering_in_memory(RecordedBackend(cluster), tmp_path) as controller:
        controller.cycle()
        for job in jobs:
            cluster.freeze(job, 777)
        controller.leave("the test says so")
    for job in jobs:
        cluster.release(job)
    assert not cluster.site


def test_a_slurm_that_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    cluster, _ = full_cluster(LIMITS)
    backend = RecordedBackend(cluster, read_faults=[ReadFault.DOWN, ReadFault.GARBAGE])
    with steering_in_memory(backend, tmp_path) as controller:
        assert "cannot be read" in controller.cycle().sentence
        assert "cannot be read" in controller.cycle().sentence
        assert backend.sent == []
        assert controller.cycle().sent > 0


def test_a_clock_that_jumps_stops_one_cycle(tmp_path: Path) -> None:
    cluster, _ = full_cluster(LIMITS)
    backend = RecordedBackend(cluster)
    with steering_in_memory(backend, tmp_path) as controller:
        controller.cycle()
        backend.clock_error = 3600.0
        assert "the wall clock went" in controller.cycle().sentence
        assert "the wall clock went" not in controller.cycle().sentence


def test_the_budget_survives_a_restart(tmp_path: Path) -> None:
    cluster, _ = full_cluster(LIMITS)
    backend = RecordedBackend(cluster)
    guardrails = GuardrailConfig(changes_per_hour=4)
    with steering_in_memory(backend, tmp_path, guardrails=guardrails) as controller:
        assert controller.cycle().sent == 4  # and then it is killed
    with steering_in_memory(backend, tmp_path, guardrails=guardrails) as controller:
        controller.settle()
        cluster.advance(60.0)
        assert "4 of 4 sent in the last hour" in controller.cycle().sentence
        assert controller.mode is Mode.SHADOW
    assert not cluster.site


def test_lost_rights_are_named_and_end_active_mode(tmp_path: Path) -> None:
    cluster, _ = full_cluster(LIMITS)
    backend = RecordedBackend(cluster, [Fault.REFUSED] * 3)
    guardrails = GuardrailConfig(failures=3)
    with steering_in_memory(backend, tmp_path, guardrails=guardrails) as controller:
        report = controller.cycle()
        assert "Access/permission denied" in report.trouble
        assert "adminlevel=operator" in report.sentence
        controller.cycle()
        assert "changes failed in 3 cycles in a row" in controller.cycle().sentence
        assert controller.mode is Mode.SHADOW
    assert not cluster.site


def test_a_slurm_that_stays_unreadable_ends_active_mode(tmp_path: Path) -> None:
    cluster, _ = full_cluster(LIMITS)
    backend = RecordedBackend(cluster)
    guardrails = GuardrailConfig(failures=2)
    with steering_in_memory(backend, tmp_path, guardrails=guardrails) as controller:
        controller.cycle()
        backend.read_faults.extend([ReadFault.DOWN] * 2)
        first, second = controller.cycle(), controller.cycle()
        assert first.trouble
        assert "Slurm cannot be read for 2 cycles" in second.sentence
        assert (first.mode, second.mode) == (Mode.ACTIVE, Mode.SHADOW)
    assert not cluster.site


def test_a_queue_that_is_suddenly_empty_is_no_evidence(tmp_path: Path) -> None:
    cluster, _ = full_cluster(LIMITS)
    backend = RecordedBackend(cluster)
    with steering_in_memory(backend, tmp_path) as controller:
        controller.cycle()
        held = dict(cluster.site)
        backend.read_faults.append(ReadFault.EMPTY)
        assert "missing without a trace" in controller.cycle().trouble
        assert len(controller.ledger.view.entries) == len(held)
        assert controller.cycle().sent == 0  # what stands is still known as ours
        assert cluster.site == held
        backend.read_faults.append(ReadFault.EMPTY)
        controller.leave("the test says so")  # reads the queue once more, and gets nothing
    assert not cluster.site


@pytest.mark.parametrize(("seconds", "believed"), [(60.0, False), (400.0, True)])
def test_after_a_long_silence_it_is_no_wonder_that_most_jobs_are_gone(
    seconds: float, believed: bool
) -> None:
    """A machine that stood still for longer than MinJobAge is no reason to leave active mode."""
    later = at(1000.0 + seconds, waiting(99))
    doubt = unbelievable(frozenset(range(40)), 1000.0, later, GuardrailConfig())
    assert bool(doubt) is not believed
    nothing = at(1000.0 + seconds)
    assert unbelievable(frozenset(range(40)), 1000.0, nothing, GuardrailConfig())


def test_a_job_that_slurm_forgot_is_let_go_by_slurm_s_own_word(tmp_path: Path) -> None:
    cluster, jobs = full_cluster(LIMITS)
    backend = RecordedBackend(cluster)
    with steering_in_memory(backend, tmp_path) as controller:
        controller.cycle()
        cluster.forget(jobs[1])
        cluster.advance(60.0)
        controller.cycle()
        assert jobs[1] not in {entry.job for entry in controller.ledger.view.entries.values()}
        assert controller.mode is Mode.ACTIVE


class AgeingBackend(RecordedBackend):
    """A cluster whose age has this weight, and counts for a day."""

    weight = "0"

    def settings(self) -> Mapping[str, str]:
        return {**super().settings(), "PriorityWeightAge": self.weight, "PriorityMaxAge": "1-0"}


def long_before_short(cluster: MemoryCluster) -> tuple[int, int]:
    """A job of ten hours, and one of an hour that Slurm puts 4,000 points behind it."""
    facts = ((36_000.0, 5000), (3600.0, 1000))
    long, short = (
        cluster.submit(gpus=4, limit=limit, priority=priority) for limit, priority in facts
    )
    return long, short


@pytest.mark.parametrize(("weight", "first"), [("1000", 0), ("2000", 1)])
def test_an_order_near_slurms_starts_from_the_priorities_of_the_site(
    tmp_path: Path, weight: str, first: int
) -> None:
    cluster, _ = full_cluster([])
    jobs = long_before_short(cluster)
    backend = AgeingBackend(cluster)
    backend.weight = weight  # nine hours more cost 10 * 32,400 / 86,400 of it: 3,750 or 7,500
    with steering_in_memory(backend, tmp_path, policy="slurm-shorter-10") as controller:
        for _ in range(3):  # what we have set ourselves does not count
            controller.cycle()
            assert max(jobs, key=cluster.priority) == jobs[first]
            cluster.advance(60.0)


def test_a_weight_that_the_site_changes_is_taken_up(tmp_path: Path) -> None:
    cluster, _ = full_cluster([])
    long, short = long_before_short(cluster)
    backend = AgeingBackend(cluster)
    backend.weight = "1000"
    with steering_in_memory(backend, tmp_path, policy="slurm-shorter-10") as controller:
        controller.cycle()
        assert cluster.priority(long) > cluster.priority(short)
        backend.weight = "2000"
        for _ in range(2):
            cluster.advance(REFRESH)
            controller.cycle()
        assert cluster.priority(long) < cluster.priority(short)


@pytest.mark.parametrize(
    ("weight", "knob", "said"),
    [("0", "sitefactor", "PriorityWeightAge is 0"), ("1000", "priority", "hides them")],
)
def test_where_there_is_no_priority_to_start_from_nothing_is_decided_and_none_starts(
    tmp_path: Path, weight: str, knob: str, said: str
) -> None:
    cluster, _ = full_cluster([50, 20])
    backend = AgeingBackend(cluster)
    backend.weight = weight
    wanted = memory_config(tmp_path, policy="slurm-shorter-10", act=ActConfig(knob=knob))
    with steering_in_memory(backend, tmp_path, policy=wanted.policy, act=wanted.act) as controller:
        assert said in controller.cycle().sentence
    assert backend.sent == []
    with pytest.raises(ConfigError, match=said):
        Daemon(wanted, backend=backend).run(1)
