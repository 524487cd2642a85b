"""Failures, drains and reservations of nodes: against the oracle, and cases by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.outages import NodeReservation, Outage, OutageState
from dovetail.domain.policy import Backfill, SlurmBackfill
from dovetail.domain.schedule import Schedule
from dovetail.policies.ordering import ORDERINGS
from tests.builders import JobRow, cluster_of, estimates_of, job, trace_of
from tests.oracles.cases import Case, cases, hungry
from tests.simulator.runs import compiled_schedule
from tests.simulator.test_against_oracle import agree, revised
from tests.simulator.test_eligibility import linked, quick, refuse_parting


def troubled(case: Case) -> Case:
    """The same case where nodes fail, are drained or kept for something else, for a while."""
    random = Random(len(case.rows) + 17 * len(case.cluster.nodes))
    first, last = case.rows[0].submit, case.rows[-1].submit + 20.0
    count = len(case.cluster.nodes)

    def span() -> tuple[frozenset[int], float, float]:
        nodes = frozenset(random.sample(range(count), random.randint(1, count)))
        times = [random.choice(case.rows).submit + random.choice((0.0, 3.0, 10.5)) for _ in "ab"]
        start, end = min(times), max(times) + random.choice((1.0, 5.0, 40.0, last - first))
        return nodes, start - random.choice((0.0, 0.0, 2.0)), end

    def outage() -> Outage:
        nodes, start, end = span()
        end = random.choice((end, end, math.inf))
        return Outage(nodes, start, end, random.choice(list(OutageState)))

    chosen = random.choice(("outages", "reservations", "both"))
    return replace(
        case,
        cluster=replace(
            case.cluster,
            slurm=random.choice(({}, {}, {"JobRequeue": "0"})),
            outages=tuple(outage() for _ in range(random.randint(1, 3)))
            if chosen != "reservations"
            else (),
            reservations=tuple(NodeReservation(*span()) for _ in range(random.randint(1, 2)))
            if chosen != "outages"
            else (),
        ),
    )


@settings(quick, max_examples=60)
@given(
    case=st.one_of(
        cases(most_jobs=18).map(troubled),
        cases(most_jobs=14).map(hungry).map(troubled),
        cases(most_jobs=14).map(linked).map(troubled),
    ),
    ordering=st.sampled_from([*ORDERINGS, "careful"]),
    backfill=st.sampled_from([*Backfill, SlurmBackfill(interval=7.0, resolution=3.0)]),
)
def test_jobs_run_on_nodes_that_come_and_go_as_in_the_oracle(
    case: Case, ordering: str, backfill: Backfill | SlurmBackfill
) -> None:
    if isinstance(backfill, SlurmBackfill) and ordering == "careful":
        ordering = "fcfs"
    refuse_parting(case, ordering, backfill)


@settings(quick, max_examples=60)
@given(
    case=cases(most_jobs=18).map(troubled),
    ordering=st.sampled_from(["saf", "fcfs", "knowing"]),
)
def test_what_is_believed_of_killed_jobs_begins_anew_as_in_the_oracle(
    case: Case, ordering: str
) -> None:
    agree(case, ordering, "best-fit", Backfill.EASY, revised)


def run(
    nodes: str,
    *rows: JobRow,
    outages: tuple[Outage, ...] = (),
    reservations: tuple[NodeReservation, ...] = (),
    backfill: Backfill = Backfill.EASY,
    **settings_of_slurm: str,
) -> Schedule:
    """First come, first served, on nodes that are not always there."""
    cluster = replace(
        cluster_of(nodes), outages=outages, reservations=reservations, slurm=settings_of_slurm
    )
    return compiled_schedule(
        trace_of(*rows), cluster, "fcfs", "first-available", backfill, estimates_of(*rows)
    )


FIRST, SECOND = frozenset({0}), frozenset({1})


def test_a_job_under_which_a_node_fails_begins_again_and_waits_from_then_on() -> None:
    found = run("2x1", job(0, 100), job(0, 500), outages=(Outage(FIRST, 40.0, 60.0),))
    assert (found.start[0], found.end[0], found.wait[0]) == (60, 160, 20)
    assert found.restarts is not None
    assert found.restarts.tolist() == [1, 0]


def test_where_jobs_are_not_requeued_a_failure_is_their_end() -> None:
    found = run("1x1", job(0, 100), outages=(Outage(FIRST, 40.0, 60.0),), JobRequeue="0")
    assert (found.start[0], found.end[0]) == (0, 40)


def test_a_failed_node_takes_its_gang_from_all_nodes() -> None:
    found = run("2x1", job(0, 100, 2), job(50, 10), outages=(Outage(FIRST, 40.0, 90.0),))
    assert found.start.tolist() == [90, 50]


def test_a_drained_node_ends_its_jobs_and_takes_no_new_ones() -> None:
    away = (Outage(FIRST, 10.0, 300.0, OutageState.DRAIN),)
    found = run("1x2", job(0, 100), job(20, 10), outages=away)
    assert found.start.tolist() == [0, 300]


def test_a_job_whose_estimate_runs_into_a_reservation_waits_until_it_is_over() -> None:
    kept = (NodeReservation(FIRST, 100.0, 200.0),)
    found = run("1x1", job(0, 150, estimate=150), job(5, 95), reservations=kept)
    assert found.start.tolist() == [200, 5]


def test_nobody_passes_a_job_that_waits_for_the_end_of_a_reservation_by_delaying_it() -> None:
    kept = (NodeReservation(FIRST, 100.0, 200.0),)
    found = run("2x1", job(0, 150, 2), job(5, 500), job(6, 90), reservations=kept)
    assert found.start.tolist() == [200, 350, 6]


@pytest.mark.parametrize("backfill", [Backfill.EASY, Backfill.CONSERVATIVE])
def test_a_gang_that_a_failed_node_makes_impossible_keeps_nobody_waiting(
    backfill: Backfill,
) -> None:
    away = (Outage(SECOND, 10.0, 1000.0),)
    found = run("2x1", job(20, 10, 2), job(21, 500), outages=away, backfill=backfill)
    assert found.start.tolist() == [1000, 21]


def test_a_job_that_waits_for_a_node_that_never_comes_back_is_counted_as_never_run() -> None:
    found = run("1x1", job(5, 10), outages=(Outage(FIRST, 0.0),))
    assert found.ran.tolist() == [False]
