"""What the site has declared is not crossed: tiers, QOS, and what else binds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from dovetail.domain.errors import ConfigError
from dovetail.live.backends.recorded import MemoryCluster, RecordedBackend
from dovetail.live.config import ActConfig, GuardrailConfig, LiveConfig
from dovetail.live.doctor import CheckLevel, Facts
from dovetail.live.doctor.slurm_checks import lines as doctor_lines
from dovetail.live.guardrails import guard
from dovetail.live.guardrails.lines import lines, lines_of
from dovetail.live.guardrails.slurm_order import places, slurm_order
from dovetail.live.model.snapshot import LivePartition
from tests.live.guardrails.cases import Case, cases
from tests.live.memory import full_cluster, steering_in_memory


@given(cases())
def test_every_class_keeps_the_places_that_slurm_gave_it(case: Case) -> None:
    decision, _, _ = guard(case.decision, case.situation, case.config)
    line = lines_of(decision.order, case.situation.snapshot, case.config.binding)
    own = slurm_order(decision.order, case.situation)
    assert [line[job] for job in decision.order] == [line[job] for job in own]


@given(cases())
def test_no_job_loses_more_places_than_allowed_though_classes_are_kept_apart(case: Case) -> None:
    decision, _, _ = guard(case.decision, case.situation, case.config)
    own = places(slurm_order(decision.order, case.situation))
    lost = [place - own[job] for place, job in enumerate(decision.order)]
    assert max(lost, default=0) <= case.config.displacement


@given(cases())
def test_where_nothing_binds_nothing_is_changed(case: Case) -> None:
    free = replace(case.config, binding=())
    assert lines(case.decision, case.situation, free).decision == case.decision


def with_urgent() -> tuple[MemoryCluster, list[int], int]:
    """Short jobs, and a long one whose QOS puts it before all of them."""
    cluster, jobs = full_cluster([10, 20, 30])
    cluster.qos = {"urgent": 20_000}
    urgent = cluster.submit(gpus=4, limit=36_000.0, qos="urgent")
    cluster.advance(1.0)
    return cluster, jobs, urgent


def test_an_urgent_job_stays_first_though_it_is_the_longest(tmp_path: Path) -> None:
    cluster, jobs, urgent = with_urgent()
    with steering_in_memory(RecordedBackend(cluster), tmp_path) as controller:
        controller.cycle()
        assert all(cluster.priority(urgent) > cluster.priority(job) for job in jobs)
        assert urgent not in cluster.site
        controller.leave("the test ends")


def test_crossing_is_a_deliberate_setting(tmp_path: Path) -> None:
    cluster, jobs, urgent = with_urgent()
    crossing = GuardrailConfig(binding=("tier",))
    with steering_in_memory(RecordedBackend(cluster), tmp_path, guardrails=crossing) as controller:
        controller.cycle()
        assert all(cluster.priority(urgent) < cluster.priority(job) for job in jobs)
        controller.leave("the test ends")


def test_a_job_of_several_partitions_counts_in_its_highest_tier() -> None:
    cluster = MemoryCluster.of_nodes(1, gpus=4)
    job = cluster.submit(partitions=("low", "high"))
    partitions = (LivePartition("low", tier=1), LivePartition("high", tier=9))
    snapshot = replace(cluster.snapshot(), partitions=partitions)
    assert lines_of([job], snapshot, ("tier",)) == {job: (9,)}


@pytest.mark.parametrize(
    "act",
    [
        ActConfig(partitions=("gpuu",)),
        ActConfig(exclude_partitions=("gpuu",)),
        ActConfig(exclude_qos=("urgnt",)),
    ],
)
def test_a_name_that_slurm_does_not_know_stops_every_decision(
    tmp_path: Path, act: ActConfig
) -> None:
    cluster, _, _ = with_urgent()
    backend = RecordedBackend(cluster)
    with steering_in_memory(backend, tmp_path, act=act) as controller:
        assert "which Slurm does not know; known: " in controller.cycle().sentence
    assert backend.sent == []


def test_what_binds_is_one_of_the_names_that_are_known() -> None:
    with pytest.raises(ConfigError, match="expected some of tier, qos, partition, account"):
        GuardrailConfig(binding=("QOS",))


def test_the_doctor_says_which_lines_may_be_crossed() -> None:
    cluster, _, _ = with_urgent()
    config = LiveConfig(guardrails=GuardrailConfig(binding=("tier",)))
    found = doctor_lines(Facts(config=config, snapshot=cluster.snapshot()))
    assert found.level is CheckLevel.WARNING
    assert "4 waiting jobs are of several classes (2 by qos)" in found.message
    assert doctor_lines(Facts(snapshot=cluster.snapshot())).level is CheckLevel.OK
