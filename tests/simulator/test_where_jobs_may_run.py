"""Several partitions and lists of nodes: against the oracle, and worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.cluster import Cluster, Node, Partition
from dovetail.domain.limits import Each, Limit
from dovetail.domain.policy import Backfill
from dovetail.domain.schedule import Schedule
from dovetail.policies.ordering import ORDERINGS
from dovetail.simulator.layout import MAX_KINDS, kinds_of
from dovetail.simulator.node_lists import settle_lists
from dovetail.simulator.partition_lists import settle_partitions
from dovetail.simulator.rejections import ALL_EXCLUDED, OUTSIDE_PARTITION, TOO_LONG
from dovetail.simulator.reserved_nodes import ReservationSite
from tests.builders import JobRow, cluster_of, estimates_of, job, trace_of
from tests.oracles.cases import Case, cases, choosy
from tests.simulator.runs import PREFERRING, Run, compiled_schedule
from tests.simulator.test_against_oracle import agree, as_told, quick

TWO = cluster_of("3x4", partitions={"short": [0], "long": [1, 2]})


@settings(quick, max_examples=120)
@given(
    case=cases().map(choosy),
    ordering=st.sampled_from(list(ORDERINGS)),
    placement=st.sampled_from(PREFERRING),
    backfill=st.sampled_from(list(Backfill)),
)
def test_jobs_run_where_they_may_as_in_the_oracle(
    case: Case, ordering: str, placement: str, backfill: Backfill
) -> None:
    agree(case, ordering, placement, backfill, as_told)


def nodes_of(where: list[list[tuple[int, list[int]]]]) -> list[list[int]]:
    return [[node for node, _ in chunks] for chunks in where]


def replayed(site: Cluster, *rows: JobRow) -> Schedule:
    easy = Backfill.EASY
    return compiled_schedule(
        trace_of(*rows), site, "fcfs", "first-available", easy, estimates_of(*rows)
    )


def test_a_job_of_several_partitions_takes_the_one_that_is_free(run: Run) -> None:
    answer = run(
        TWO,
        job(0, gpus=4, partition="short,long"),
        job(0, gpus=4, partition="short,long"),
        job(0, gpus=4, partition="short"),
        job(0, gpus=4, partition="nowhere,long"),
        job(0, gpus=4, partition="nowhere,nobody"),
    )
    assert nodes_of(answer.where) == [[0], [1], [0], [2], []]
    assert answer.start[:4] == [0, 0, 10, 0]
    assert answer.rejected == {4}


def test_a_job_goes_with_the_highest_tier_of_its_partitions(run: Run) -> None:
    both = frozenset({0, 1, 2})
    parts = (Partition("urgent", both, tier=5), Partition("long", both))
    answer = run(
        replace(TWO, partitions=parts),
        job(0, gpus=12, partition="long"),
        job(1, gpus=12, partition="long"),
        job(2, gpus=12, partition="long,urgent"),
    )
    assert answer.start == [0, 20, 10]


@pytest.mark.parametrize(
    ("limit", "nodes"), [(300.0, [0]), (900.0, [1]), (3600.0, [])], ids=["any", "one", "none"]
)
def test_partitions_that_are_too_short_for_a_job_are_left_out(
    run: Run, limit: float, nodes: list[int]
) -> None:
    limits = (
        Limit(partitions=("short",), each=Each.JOB, minutes=10),
        Limit(partitions=("long",), each=Each.JOB, minutes=20),
    )
    answer = run(replace(TWO, limits=limits), job(0, limit=limit, partition="short,long"))
    assert nodes_of(answer.where) == [nodes]


def test_a_job_for_which_no_partition_is_left_says_why() -> None:
    limits = (Limit(partitions=("short",), each=Each.JOB, minutes=10),)
    schedule = replayed(
        replace(TWO, limits=limits),
        job(0, limit=900, partition="short,nowhere"),
        job(0, partition="nowhere,nobody"),
    )
    assert schedule.rejections() == {TOO_LONG: 1, OUTSIDE_PARTITION: 1}


def test_a_limit_holds_a_job_only_if_it_is_about_all_its_partitions(run: Run) -> None:
    one = Limit(partitions=("short",), jobs=1)
    rows = [job(0, partition="short,long") for _ in range(3)]
    assert run(replace(TWO, limits=(one,)), *rows).start == [0, 0, 0]
    both = replace(one, partitions=("short", "long", "other"))
    assert run(replace(TWO, limits=(both,)), *rows).start == [0, 10, 20]


def test_a_job_takes_whole_nodes_if_all_its_partitions_give_no_less(run: Run) -> None:
    parts = tuple(replace(part, exclusive=part.name == "short") for part in TWO.partitions)
    site = replace(TWO, partitions=parts)
    assert len(run(site, job(0, partition="short")).where[0][0][1]) == 4
    assert len(run(site, job(0, partition="short,long")).where[0][0][1]) == 1


def test_the_same_partitions_are_one_list_in_whatever_order() -> None:
    jobs = trace_of(job(partition="long,short"), job(partition="short,long,short")).jobs
    assert set(settle_partitions(jobs, TWO).partition.names()) == {"short,long"}
    single = trace_of(job(partition="long"), job()).jobs
    assert settle_partitions(single, TWO) is single


def test_a_job_runs_on_nodes_that_it_names_and_not_on_those_that_it_excludes(run: Run) -> None:
    site = cluster_of("3x4")  # gpu-0, gpu-1, gpu-2
    answer = run(
        site,
        job(0, nodelist="gpu-2"),
        job(0, nodelist="gpu-[1-2]", gpus=4),
        job(0, exclude="gpu-0,gpu-7"),
        job(0, exclude="gpu-[0-2]"),
        job(0, nodelist="gpu-1", exclude="gpu-2", gpus=4),
        job(0),
    )
    assert nodes_of(answer.where) == [[2], [1], [2], [], [1], [0]]
    assert answer.start[4] == 10
    assert answer.rejected == {3}


@pytest.mark.parametrize("asked", ["gpu-1", "other[1-9]", "gpu-[7-"], ids=["few", "none", "broken"])
def test_a_job_that_the_nodes_it_names_cannot_hold_gets_any_and_is_counted(asked: str) -> None:
    schedule = replayed(cluster_of("3x4"), job(0, gpus=8, nodelist=asked), job(0, nodelist=asked))
    assert schedule.ran.all()
    alone = asked == "gpu-1"
    assert schedule.where(1)[0][0] == ("gpu-1" if alone else "gpu-2")
    assert schedule.config["node_lists"] == {"left_out": 0, "not_met": 1 if alone else 2}


def test_a_job_that_excludes_every_node_says_so() -> None:
    schedule = replayed(cluster_of("3x4"), job(0, exclude="gpu-[0-9]"))
    assert schedule.rejections() == {ALL_EXCLUDED: 1}


def test_lists_of_some_do_not_part_the_whole_nodes_of_others(run: Run) -> None:
    answer = run("3x4", job(0, gpus=9, nodes=3, exclusive=True), job(0, nodelist="gpu-1"))
    assert nodes_of(answer.where) == [[0, 1, 2], [1]]


def test_where_lists_would_make_too_many_kinds_those_of_more_jobs_are_kept() -> None:
    site = Cluster(tuple(Node(f"n{number}", 4) for number in range(80)))
    rare = [job(0, nodelist=f"n{number}") for number in range(70)]
    common = [job(0, exclude="n[70-79]") for _ in range(2)]
    lists = settle_lists(ReservationSite(trace_of(*rare, *common).jobs, site))
    assert len(kinds_of(site, lists.nodes)) == MAX_KINDS
    assert "n[70-79]" in lists.nodes
    assert lists.left_out == 70 - (MAX_KINDS - 2)
    schedule = replayed(site, *rare, *common)
    assert schedule.ran.all()
    assert schedule.config["node_lists"]["left_out"] == lists.left_out


def test_equal_lists_are_one_however_they_are_written() -> None:
    rows = (job(nodelist="gpu-[0-1]"), job(nodelist="gpu-1,gpu-0,other9"))
    lists = settle_lists(ReservationSite(trace_of(*rows).jobs, cluster_of("3x4")))
    assert lists.nodes == {"gpu-[0-1]": frozenset({0, 1})}
    plain = trace_of(job()).jobs
    assert settle_lists(ReservationSite(plain, cluster_of("3x4"))).jobs is plain
