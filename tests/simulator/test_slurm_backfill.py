"""Backfilling as Slurm does it: the compiled simulator against the oracle, and cases by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dovetail.domain.cluster import Cluster, Node, Partition
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.domain.policy import SlurmBackfill
from dovetail.policies.ordering import ORDERINGS
from dovetail.prediction import HISTORY
from tests.builders import JobRow, cluster_of, estimates_of, job, trace_of
from tests.oracles.answers import FromHistory, difference
from tests.oracles.cases import Case, cases, choosy, reduced
from tests.oracles.slurm_backfill import simulate as play
from tests.simulator.runs import PREFERRING, compiled

quick = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
rules = st.builds(
    SlurmBackfill,
    interval=st.sampled_from((1.0, 2.5, 7.0, 30.0, 300.0)),
    resolution=st.sampled_from((1.0, 3.0, 60.0)),
    window=st.sampled_from((1.0, 1440.0)),
    max_job_test=st.sampled_from((1, 2, 5, 500)),
    max_job_user=st.sampled_from((0, 0, 1, 3)),
)


def parting(case: Case, ordering: str, placement: str, rule: SlurmBackfill) -> str | None:
    """Where the two first part; reservations go by other estimates than the order."""
    trace, cluster, told = case.trace, case.cluster, case.estimates.seconds
    factor = np.array([0.3, 1.0, 2.5, 7.0])[np.arange(len(told)) % 4]
    estimates = Estimates("apart", told, told * factor)
    affinity = case.affinity if placement == "gpu-affinity" else {}
    seconds, reserve = estimates.seconds.tolist(), estimates.reserve.tolist()
    history = FromHistory(HISTORY, trace)
    return difference(
        play(trace, cluster, ordering, placement, rule, seconds, affinity, history, reserve),
        compiled(trace, cluster, ordering, placement, rule, estimates, affinity),
    )


@pytest.mark.parametrize("ordering", list(ORDERINGS))
@settings(quick, max_examples=12)
@given(case=cases(most_jobs=18), placement=st.sampled_from(PREFERRING), rule=rules)
def test_every_ordering_gives_the_schedule_of_the_oracle(
    ordering: str, case: Case, placement: str, rule: SlurmBackfill
) -> None:
    if parting(case, ordering, placement, rule) is not None:
        case = reduced(case, lambda case: parting(case, ordering, placement, rule) is not None)
        pytest.fail(f"{rule} {placement}: {parting(case, ordering, placement, rule)}\n{case}")


@settings(quick, max_examples=60)
@given(case=cases(most_jobs=18).map(choosy), placement=st.sampled_from(PREFERRING), rule=rules)
def test_jobs_of_several_partitions_or_named_nodes_start_as_in_the_oracle(
    case: Case, placement: str, rule: SlurmBackfill
) -> None:
    if parting(case, "fcfs", placement, rule) is not None:
        case = reduced(case, lambda case: parting(case, "fcfs", placement, rule) is not None)
        pytest.fail(f"{rule} {placement}: {parting(case, 'fcfs', placement, rule)}\n{case}")


def starts(cluster: str, rule: SlurmBackfill, *rows: JobRow) -> list[float]:
    """When the jobs start, in order of arrival."""
    site, trace, told = cluster_of(cluster), trace_of(*rows), estimates_of(*rows)
    by_hand = play(trace, site, "fcfs", "first-available", rule, told.seconds.tolist())
    answer = compiled(trace, site, "fcfs", "first-available", rule, told)
    assert difference(by_hand, answer) is None
    return answer.start


def test_a_job_that_would_fit_beside_the_plan_waits_because_whole_nodes_are_planned() -> None:
    """Seen on a real Slurm: a GPU is free and B would not be delayed, yet C waits; D starts."""
    a = job(0, run=3600, gpus=3)
    b = job(1, run=3600, gpus=2)
    c = job(2, run=5400, gpus=1)
    d = job(3, run=1800, gpus=1)
    assert starts("1x4", SlurmBackfill(), a, b, c, d) == [0, 3600, 3600, 30]


def test_jobs_start_between_events_only_in_a_cycle() -> None:
    wide, blocked, short = job(0, 1000, 3), job(1, 1000, 4), job(2, 10, 1)
    assert starts("4x1", SlurmBackfill(interval=30), wide, blocked, short)[2] == 30
    assert starts("4x1", SlurmBackfill(interval=100), wide, blocked, short)[2] == 100


def test_the_head_of_the_queue_does_not_wait_for_a_cycle() -> None:
    assert starts("1x1", SlurmBackfill(interval=300), job(0, 10), job(1, 10)) == [0, 10]


def test_times_are_rounded_so_that_a_job_that_just_fits_is_refused() -> None:
    """The plan for the blocked job begins at 960, not at 1000: 940 s from 30 on are too long."""
    wide, blocked, just = job(0, 1000, 3), job(1, 1000, 4), job(2, 940, 1)
    assert starts("4x1", SlurmBackfill(resolution=60), wide, blocked, just)[2] == 2000
    assert starts("4x1", SlurmBackfill(resolution=1), wide, blocked, just)[2] == 30


def test_what_starts_after_the_window_is_not_planned_and_may_be_delayed() -> None:
    wide, blocked, long = job(0, 1000, 3), job(1, 1000, 4), job(2, 5000, 1)
    assert starts("4x1", SlurmBackfill(window=60), wide, blocked, long)[2] == 2000
    assert starts("4x1", SlurmBackfill(window=1), wide, blocked, long)[2] == 30


def test_jobs_beyond_the_depth_are_not_looked_at() -> None:
    rows = [job(0, 1000, 3), job(1, 1000, 4), job(2, 1000, 2), job(3, 10, 1)]
    assert starts("4x1", SlurmBackfill(max_job_test=3), *rows)[3] == 30
    assert starts("4x1", SlurmBackfill(max_job_test=2), *rows)[3] > 1000


def test_a_rule_is_read_back_from_the_text_that_names_it() -> None:
    largest = SlurmBackfill(10_800, 3600, 43_200, 1_000_000)
    assert SlurmBackfill.parse(largest.value.removeprefix("slurm:")) == largest


@pytest.mark.parametrize(
    "wrong", ["interval=0", "resolution=7200", "max_job_test=1.5", "depth=3", "interval"]
)
def test_parameters_that_slurm_would_refuse_are_refused(wrong: str) -> None:
    with pytest.raises(ConfigError, match="backfill slurm"):
        SlurmBackfill.parse(wrong)


def test_a_blocked_job_closes_its_partition_to_others_until_the_next_cycle() -> None:
    wide, blocked, other = (
        job(0, 1000, 4, gpu_type="v100"),
        job(1, 1000, 4, gpu_type="v100"),
        job(2),
    )
    assert starts("1x4:v100,1x4:p100", SlurmBackfill(), wide, blocked, other)[2] == 30


@pytest.mark.parametrize(("asked", "start"), [("left", 3), ("left,right", 30)])
def test_a_blocked_job_closes_all_its_partitions(asked: str, start: float) -> None:
    site = cluster_of("2x4", partitions={"left": [0], "right": [1]})
    rows = (
        job(0, 1000, 2, partition="left"),
        job(1, 1000, 2, partition="right"),
        job(2, 1000, 4, partition=asked),
        job(3, 10, 1, partition="right"),
    )
    told = estimates_of(*rows)
    answer = compiled(trace_of(*rows), site, "fcfs", "first-available", SlurmBackfill(), told)
    assert answer.start[3] == start


def test_nodes_outside_the_partition_of_a_blocked_job_stay_open() -> None:
    nodes = (Node("a", 4, "v100"), Node("b", 4, "p100"))
    parts = (Partition("fast", frozenset({0})), Partition("all", frozenset({0, 1})))
    site = Cluster(nodes, parts)
    rows = [
        job(0, 1000, 4, partition="fast"),
        job(1, 1000, 4, partition="fast"),
        job(2, 1000, 4, partition="all"),
        job(3, 10, 1, partition="all"),
    ]
    trace, told = trace_of(*rows), estimates_of(*rows)
    rule = SlurmBackfill()
    answer = compiled(trace, site, "fcfs", "first-available", rule, told)
    by_hand = play(trace, site, "fcfs", "first-available", rule, told.seconds.tolist())
    assert difference(by_hand, answer) is None
    assert answer.start[2] == 2
    assert answer.start[3] > 30
