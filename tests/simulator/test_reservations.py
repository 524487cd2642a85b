"""Jobs that ask for a reservation: on its nodes while it lasts, and nobody else there."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.access import ANYBODY, Access
from dovetail.domain.cluster import Cluster, Node
from dovetail.domain.outages import NodeReservation, Outage
from dovetail.domain.policy import Backfill, BackfillRule, SlurmBackfill
from dovetail.domain.schedule import Schedule
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.simulator import simulate_window, warm_window
from dovetail.simulator.layout import MAX_KINDS
from dovetail.simulator.wishes import count_wishes
from tests.builders import JobRow, cluster_of, estimates_of, job, trace_of
from tests.oracles.cases import Case, cases, choosy
from tests.simulator.runs import compiled_schedule
from tests.simulator.test_eligibility import quick, refuse_parting
from tests.simulator.test_outages import troubled

EVERY = [*Backfill, SlurmBackfill(interval=7.0, resolution=3.0)]
NAMES = ("course", "course", "other", "gone")


def asking(case: Case) -> Case:
    """The same case with reservations, outages and jobs that ask for one."""
    case = troubled(case)
    random = Random(len(case.rows) + 31 * len(case.cluster.nodes))
    kept = tuple(
        replace(
            one,
            name=random.choice(("course", "course", "other", "upkeep")),
            access=random.choice((ANYBODY, ANYBODY, Access(("ann",)), Access(not_users=("bob",)))),
        )
        for one in (*case.cluster.reservations, *_more(random, case))
    )
    rows = tuple(
        replace(
            row,
            reservation=random.choice((None, None, *NAMES)),
            user=random.choice((row.user, "ann", "bob")),
        )
        for row in case.rows
    )
    return replace(case, cluster=replace(case.cluster, reservations=kept), rows=rows)


def _more(random: Random, case: Case) -> tuple[NodeReservation, ...]:
    count = len(case.cluster.nodes)
    first = case.rows[0].submit
    found = []
    for _ in range(random.randint(1, 2)):
        nodes = frozenset(random.sample(range(count), random.randint(1, count)))
        start = first + random.choice((-5.0, 0.0, 4.0, 12.0))
        found.append(NodeReservation(nodes, start, start + random.choice((6.0, 30.0, 200.0))))
    return tuple(found)


@settings(quick, max_examples=70)
@given(
    case=st.one_of(cases(most_jobs=18).map(asking), cases(most_jobs=14).map(choosy).map(asking)),
    ordering=st.sampled_from([*ORDERINGS, "careful"]),
    backfill=st.sampled_from(EVERY),
)
def test_jobs_that_ask_for_reservations_run_as_in_the_oracle(
    case: Case, ordering: str, backfill: BackfillRule
) -> None:
    if isinstance(backfill, SlurmBackfill) and ordering == "careful":
        ordering = "fcfs"
    refuse_parting(case, ordering, backfill)


def run(site: Cluster, *rows: JobRow, backfill: BackfillRule = Backfill.EASY) -> Schedule:
    told = estimates_of(*rows)
    return compiled_schedule(trace_of(*rows), site, "fcfs", "first-available", backfill, told)


def kept(spec: str, *reservations: NodeReservation) -> Cluster:
    return replace(cluster_of(spec), reservations=reservations)


COURSE = NodeReservation(frozenset({1}), 100.0, 200.0, "course")


@pytest.mark.parametrize("backfill", EVERY, ids=str)
def test_a_job_runs_on_the_nodes_of_its_reservation_while_it_lasts(backfill: BackfillRule) -> None:
    schedule = run(
        kept("2x4", COURSE),
        job(0, 10, reservation="course"),
        job(0, 20, 4, reservation="course"),
        job(0, 150, 4),
        job(0, 150, 4),  # would run into the reservation of the other node
        backfill=backfill,
    )
    assert schedule.start[:3].tolist() == [100.0, 110.0, 0.0]
    assert [schedule.where(row)[0][0] for row in range(3)] == ["gpu-1", "gpu-1", "gpu-0"]
    assert schedule.start[3] == pytest.approx(150.0, abs=7.0)


@pytest.mark.parametrize("backfill", EVERY, ids=str)
def test_a_job_that_would_not_end_with_its_reservation_never_starts(backfill: BackfillRule) -> None:
    rows = job(0, 150, reservation="course"), job(0, 10)
    schedule = run(kept("2x4", COURSE), *rows, backfill=backfill)
    assert np.isnan(schedule.start[0])
    assert schedule.start[1] == 0.0


def test_a_reservation_of_the_same_name_may_come_again() -> None:
    again = replace(COURSE, start=500.0, end=600.0)
    rows = job(0, 60, 4, reservation="course"), job(0, 60, 4, reservation="course")
    assert run(kept("2x4", COURSE, again), *rows).start.tolist() == [100.0, 500.0]


def test_upkeep_of_a_node_stands_before_its_other_reservations() -> None:
    upkeep = NodeReservation(frozenset({1}), 100.0, 150.0, "upkeep")
    assert run(kept("2x4", COURSE, upkeep), job(0, 10, reservation="course")).start[0] == 150.0


def test_a_node_that_is_down_is_so_for_its_reservation() -> None:
    site = replace(kept("2x4", COURSE), outages=(Outage(frozenset({1}), 90.0, 130.0),))
    assert run(site, job(0, 10, reservation="course")).start[0] == 130.0


def test_what_the_cluster_does_not_have_or_cannot_give_is_counted_and_not_waited_for() -> None:
    site = kept("2x4", COURSE)
    rows = (
        job(0, reservation="gone"),
        job(0, gpus=8, reservation="course"),
        job(0, reservation="course"),
    )
    schedule = run(site, *rows)
    assert schedule.start.tolist() == [0.0, 10.0, 100.0]
    counts = {"unknown": 1, "left_out": 0, "not_met": 1, "not_let_in": 0}
    assert schedule.config["reservations"] == counts
    found = count_wishes(trace_of(*rows).jobs, site, PLACEMENTS["best-fit"])
    assert found == {"reservations": {"asked": 3, **counts}}
    assert run(site, job(0)).config.get("reservations") is None


def test_a_named_node_is_meant_in_its_reservation_too() -> None:
    both = NodeReservation(frozenset({0, 1}), 100.0, 200.0, "course")
    rows = job(0, reservation="course", nodelist="gpu-1"), job(0, reservation="course")
    schedule = run(kept("2x4", both), *rows)
    assert [schedule.where(row)[0][0] for row in range(2)] == ["gpu-1", "gpu-0"]


def test_reservations_of_more_jobs_are_kept_where_nodes_would_be_of_too_many_kinds() -> None:
    nodes = tuple(Node(f"n{number}", 4, cpus=8.0 + number) for number in range(MAX_KINDS - 1))
    rare = NodeReservation(frozenset({0}), 100.0, 200.0, "rare")
    site = Cluster(nodes, reservations=(rare, COURSE))
    asked = [job(0, reservation=name) for name in ("rare", "course", "course")]
    schedule = run(site, *asked)
    assert schedule.start.tolist() == [0.0, 100.0, 100.0]
    assert schedule.config["reservations"]["left_out"] == 1


def test_a_window_goes_on_with_jobs_in_a_reservation() -> None:
    site = kept("2x4", COURSE)
    rows = [job(0, 80, 4, reservation="course"), job(150, 10, 4, reservation="course"), job(160)]
    schedule = run(site, *rows)
    assert schedule.start.tolist() == [100.0, 180.0, 160.0]
    window = warm_window(schedule, first=1, count=2)
    told = estimates_of(*rows)
    again = simulate_window(
        window, site, ORDERINGS["fcfs"], PLACEMENTS["first-available"], Backfill.EASY,
        replace(told, seconds=told.seconds[window.rows], reserve=told.reserve[window.rows]),
    )  # fmt: skip
    assert again.start[window.own].tolist() == [180.0, 160.0]
