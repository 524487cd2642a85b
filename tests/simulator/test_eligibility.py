"""Dependencies, singletons and throttled arrays: against the oracle, and cases by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dovetail.domain.policy import Backfill, SlurmBackfill
from dovetail.policies.ordering import ORDERINGS
from dovetail.prediction import HISTORY
from tests.builders import JobRow, cluster_of, estimates_of, job, trace_of
from tests.oracles.answers import FromHistory, difference
from tests.oracles.cases import Case, cases, reduced
from tests.oracles.simulator import simulate as play
from tests.oracles.slurm_backfill import simulate as play_slurm
from tests.simulator.runs import compiled, compiled_schedule

quick = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def linked(case: Case) -> Case:
    """The same jobs, some of which wait for others: before or after them, or for none at all."""
    random = Random(len(case.rows) + 31 * len(case.cluster.nodes))
    count = len(case.rows)

    def wish(row: int) -> dict[str, Any]:
        other, third = (str(random.randrange(count + 1)) for _ in "ab")
        dependency = random.choice(
            (None, None, None, f"afterok:{other}", f"afterany:{other}:{third}", "singleton",
             f"after:{other}+{random.choice((0, 1))},afternotok:{third}",
             f"afterok:{other}?after:{third}", f"afterany:{random.choice('AB')}")
        )  # fmt: skip
        early = case.rows[row].submit - random.choice((0.0, 1.0, 5.0))
        return {
            "dependency": dependency,
            "earliest": random.choice((math.nan, max(0.0, early))),
            "name": random.choice("xy"),
            "array": random.choice((None, None, "A", "B")),
        }

    throttled = {"A": random.choice((0, 1, 2)), "B": random.choice((0, 3))}
    wishes = [wish(row) for row in range(count)]
    return replace(
        case,
        rows=tuple(
            replace(row, **facts, throttle=throttled.get(str(facts["array"]), 0))
            for row, facts in zip(case.rows, wishes, strict=True)
        ),
    )


def parting(case: Case, ordering: str, backfill: Backfill | SlurmBackfill) -> str | None:
    trace, cluster, told = case.trace, case.cluster, case.estimates
    seconds, history = told.seconds.tolist(), FromHistory(HISTORY, trace)
    if isinstance(backfill, SlurmBackfill):
        by_hand = play_slurm(trace, cluster, ordering, "best-fit", backfill, seconds, None, history)
    else:
        by_hand = play(trace, cluster, ordering, "best-fit", backfill, seconds, None, history)
    answer = compiled(trace, cluster, ordering, "best-fit", backfill, told)
    return difference(by_hand, answer)


def refuse_parting(case: Case, ordering: str, backfill: Backfill | SlurmBackfill) -> None:
    """Fail with the smallest such case if kernel and oracle part."""
    if parting(case, ordering, backfill) is not None:
        small = reduced(case, lambda smaller: parting(smaller, ordering, backfill) is not None)
        closed = (*small.cluster.outages, *small.cluster.reservations)
        words = f"{small!r}\n{closed} {small.cluster.slurm}"
        pytest.fail(f"{ordering} × {backfill}: {parting(small, ordering, backfill)}\n{words}")


@settings(quick, max_examples=150)
@given(
    case=cases(most_jobs=18).map(linked),
    ordering=st.sampled_from(list(ORDERINGS)),
    backfill=st.sampled_from([*Backfill, SlurmBackfill(interval=7.0, resolution=3.0)]),
)
def test_jobs_that_wait_for_others_run_as_in_the_oracle(
    case: Case, ordering: str, backfill: Backfill | SlurmBackfill
) -> None:
    refuse_parting(case, ordering, backfill)


def waits(cluster: str, *rows: JobRow) -> tuple[list[float], list[float]]:
    """Starts and waits of jobs first come, first served."""
    schedule = compiled_schedule(
        trace_of(*rows), cluster_of(cluster), "fcfs", "best-fit", Backfill.EASY, estimates_of(*rows)
    )
    return schedule.start.tolist(), schedule.wait.tolist()


def test_a_job_waits_from_the_end_of_what_it_depends_on() -> None:
    first, other = job(0, 100, 1), job(0, 150, 1)
    start, wait = waits("1x2", first, other, job(0, 10, 2, dependency="afterok:0"))
    assert (start[2], wait[2]) == (150, 50)


def test_it_runs_earlier_than_recorded_where_what_it_depends_on_ends_earlier() -> None:
    start, wait = waits("1x2", job(0, 100), job(700, 10, dependency="afterok:0", earliest=5.0))
    assert (start[1], wait[1]) == (100, 0)


def test_who_depends_on_a_job_that_is_not_in_the_trace_comes_as_recorded() -> None:
    start, _ = waits("1x2", job(0, 100), job(70, 10, dependency="afterok:17", earliest=5.0))
    assert start[1] == 70


def test_jobs_that_wait_for_each_other_never_run_and_are_counted() -> None:
    rows = job(0, 10, dependency="afterok:1"), job(0, 10, dependency="afterok:0"), job(3, 10)
    trace = trace_of(*rows)
    schedule = compiled_schedule(
        trace, cluster_of("1x2"), "fcfs", "best-fit", Backfill.EASY, estimates_of(*rows)
    )
    assert schedule.ran.tolist() == [False, False, True]
    assert "for jobs that never ended" in next(iter(schedule.rejections()))


def test_a_singleton_waits_for_all_earlier_jobs_of_its_user_and_name() -> None:
    alike: dict[str, Any] = {"user": "ann", "name": "nightly"}
    rows = job(0, 50, **alike), job(0, 90, **alike), job(1, 10, user="bob", name="nightly")
    start, _ = waits("1x8", *rows, job(2, 10, **alike, dependency="singleton"))
    assert start == [0, 0, 1, 90]


def test_of_a_throttled_array_so_many_tasks_run_at_once() -> None:
    tasks = [job(0, 10, array="7", throttle=2) for _ in range(5)]
    start, wait = waits("1x8", *tasks)
    assert start == [0, 0, 10, 10, 20]
    assert wait == [0.0] * 5


def test_a_job_that_may_begin_minutes_after_another_has_started_does() -> None:
    start, _ = waits("1x8", job(5, 1000), job(6, 10, dependency="after:0+2"))
    assert start[1] == 125
