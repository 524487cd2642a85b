"""Where jobs go, in cases small enough to work out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.builders import cluster_of, job
from tests.oracles.simulator import Answer
from tests.simulator.runs import Run


def nodes(answer: Answer) -> list[list[int]]:
    """The nodes of every job, in the order chosen."""
    return [[node for node, _ in where] for where in answer.where]


@pytest.mark.parametrize(
    ("placement", "node"), [("first-available", 0), ("best-fit", 1), ("worst-fit", 2)]
)
def test_fits_choose_by_how_many_gpus_are_free(run: Run, placement: str, node: int) -> None:
    answer = run("1x4,1x2,1x8", job(0, gpus=2), placement=placement)
    assert nodes(answer) == [[node]]


def test_chunks_take_the_free_gpus_with_the_lowest_numbers(run: Run) -> None:
    answer = run(
        "1x4",
        job(0, run=5, gpus=1),  # GPU 0, free again at 5
        job(0, run=99, gpus=1),  # GPU 1
        job(6, run=99, gpus=2),
    )
    assert answer.where == [[(0, [0])], [(0, [1])], [(0, [0, 2])]]


def test_fgd_spares_gpus_that_other_jobs_could_use_together(run: Run) -> None:
    answer = run(
        "2x4",
        job(0, run=99, gpus=2),  # node 0: both alike
        job(1, run=99, gpus=1),  # node 1: on node 0 a GPU would be left that no pair can use
        placement="fgd",
    )
    assert nodes(answer) == [[0], [1]]


def test_topology_aware_takes_the_switch_that_just_holds_the_gang(run: Run) -> None:
    cluster = cluster_of("5x1", switches="aaabb")
    assert nodes(run(cluster, job(0, gpus=2), placement="topology-aware")) == [[3, 4]]
    assert nodes(run(cluster, job(0, gpus=3), placement="topology-aware")) == [[0, 1, 2]]


def test_topology_aware_fills_the_largest_switch_first_if_none_holds_the_gang(run: Run) -> None:
    cluster = cluster_of("5x1", switches="bbaaa")
    assert nodes(run(cluster, job(0, gpus=4), placement="topology-aware")) == [[2, 3, 4, 0]]


def test_topology_aware_keeps_the_remainder_behind_the_same_switch(run: Run) -> None:
    cluster = cluster_of("4x4", switches="abba")
    answer = run(cluster, job(0, gpus=6), job(1, gpus=6), placement="topology-aware")
    assert nodes(answer) == [[0, 3], [1, 2]]


def test_affinity_prefers_the_types_of_the_kind_and_falls_back_to_others(run: Run) -> None:
    answer = run(
        "1x4:v100,1x4:p100",
        job(0, gpus=4, kind="inference"),  # p100 first
        job(1, gpus=2, kind="inference"),  # p100 is full
        job(2, gpus=1, kind="worker"),  # no list: wherever it fits best
        placement="gpu-affinity",
        affinity={"inference": ("p100",)},
    )
    assert nodes(answer) == [[1], [0], [0]]


def test_suited_sends_whoever_loses_least_to_slow_nodes_and_falls_back_to_others(run: Run) -> None:
    site = replace(
        cluster_of("1x4:v100,1x4:t4"),
        kind_speed={"training": {"t4": 0.25}, "inference": {"t4": 0.8}},
    )
    answer = run(
        site,
        job(0, gpus=1, kind="inference"),  # loses less on a T4 than others do
        job(1, gpus=3, kind="training"),  # would fit the T4 best
        job(2, gpus=1, kind="training"),
        job(3, gpus=3, kind="training"),  # the V100s are full
        placement="suited",
    )
    assert nodes(answer) == [[1], [0], [0], [1]]


def test_suited_is_best_fit_where_speeds_do_not_depend_on_the_kind_of_job(run: Run) -> None:
    site = replace(cluster_of("1x8:v100,1x4:t4"), speed={"t4": 0.5})
    rows = [job(at, run=50, gpus=1 + at % 4, kind="training") for at in range(12)]
    both = [run(site, *rows, placement=name) for name in ("suited", "best-fit")]
    assert both[0] == both[1]


def test_a_job_goes_to_nodes_that_hold_it_whole_before_pools_that_must_split_it(run: Run) -> None:
    answer = run("4x2,1x8", job(0, run=10, gpus=4), job(0, run=10, gpus=8), job(0, run=5, gpus=2))
    assert nodes(answer) == [[4], [4], [0]]
    assert answer.start == [0, 10, 10]
