"""Jobs without GPUs beside others, and jobs that take whole nodes, worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dovetail.domain.cluster import Cluster, Node
from dovetail.domain.errors import ClusterError
from dovetail.domain.policy import Backfill
from dovetail.simulator.rejections import CPUS_UNKNOWN
from tests.builders import cluster_of, estimates_of, job, trace_of
from tests.simulator.runs import Run, compiled_schedule

EASY = Backfill.EASY


def mixed() -> Cluster:
    """A node with four GPUs and eight CPUs, then one with eight CPUs only."""
    gpu, cpu = cluster_of("2x4", cpus=8, memory_gb=16).nodes
    return Cluster((gpu, replace(cpu, gpus=0)), name="mixed")


def test_jobs_without_gpus_take_the_cpus_that_jobs_with_gpus_need(run: Run) -> None:
    answer = run(
        mixed(),
        job(0, run=10, gpus=0, cpus=8),  # 0: node 0
        job(0, run=99, gpus=0, cpus=8),  # 0: node 1
        job(1, run=10, gpus=4, cpus=1),  # 10: GPUs are free, CPUs are not
    )
    assert answer.start == [0, 0, 10]
    assert answer.where == [[(0, [])], [(1, [])], [(0, [0, 1, 2, 3])]]


def test_best_fit_keeps_jobs_without_gpus_off_nodes_with_free_gpus(run: Run) -> None:
    answer = run(
        mixed(),
        job(0, run=10, gpus=0, cpus=4),  # node 1
        job(0, run=10, gpus=0, cpus=4),  # node 1
        job(0, run=10, gpus=0, cpus=4),  # node 0
        placement="best-fit",
    )
    assert [where[0][0] for where in answer.where] == [1, 1, 0]


def test_a_job_with_gpus_never_goes_on_a_node_without(run: Run) -> None:
    answer = run(mixed(), job(0, gpus=5), job(0, gpus=2, nodes=2), job(0, gpus=4))
    assert answer.rejected == {0, 1}


def test_a_job_without_gpus_is_split_evenly_over_its_nodes(run: Run) -> None:
    answer = run(
        mixed(),
        job(0, run=10, gpus=0, nodes=2, cpus=12, memory=20),  # six CPUs and 10 GB on each
        job(1, run=10, gpus=0, cpus=2),  # 1
        job(1, run=10, gpus=0, cpus=2, memory=7),  # 10: 6 GB are left
        job(1, run=10, gpus=0, nodes=3, cpus=3),  # there are two nodes
        job(1, run=10, gpus=0, cpus=9),  # no node has nine
        backfill=EASY,
    )
    assert answer.start[:3] == [0, 1, 10]
    assert answer.rejected == {3, 4}


def test_a_reservation_for_gpus_is_not_delayed_by_cpus(run: Run) -> None:
    answer = run(
        cluster_of("1x4", cpus=8),
        job(0, run=10, gpus=4, cpus=4),  # 0
        job(1, run=10, gpus=4, cpus=6),  # 10: needs six CPUs then
        job(2, run=50, gpus=0, cpus=4),  # 20: would leave it four
        job(3, run=50, gpus=0, cpus=2),  # 3: leaves it six
        job(4, run=6, gpus=0, cpus=2),  # 4: ends in time
        backfill=EASY,
    )
    assert answer.start == [0, 10, 20, 3, 4]


def test_speeds_of_gpus_do_not_speed_up_jobs_without(run: Run) -> None:
    site = cluster_of("1x4:v100", cpus=8, speed={"v100": 2.0})
    answer = run(site, job(0, run=10, gpus=0, cpus=8), job(1, run=10, gpus=1, cpus=8), job(2))
    assert answer.start == [0, 10, 10]


def test_jobs_are_ordered_by_size_as_a_share_of_the_cluster(run: Run) -> None:
    """Eight of eight CPUs count as four of four GPUs, four as two."""
    answer = run(
        cluster_of("1x4", cpus=8),
        job(0, run=10, gpus=0, cpus=8),
        job(1, run=10, gpus=3, cpus=8),  # size 3
        job(1, run=10, gpus=0, cpus=5),  # size 2.5
        job(1, run=10, gpus=2, cpus=8),  # size 2
        ordering="saf",
    )
    assert answer.start == [0, 30, 20, 10]


@pytest.mark.parametrize("gpus", [0, 1])
def test_an_exclusive_job_shares_its_node_with_nobody(run: Run, gpus: int) -> None:
    answer = run(
        cluster_of("1x4", cpus=8),
        job(0, run=10, gpus=1, cpus=1),  # 0
        job(1, run=10, gpus=gpus, cpus=1, exclusive=True),  # 10: not beside the first
        job(11, run=10, gpus=0, cpus=1),  # 20
        job(11, run=10, gpus=1),  # 20
    )
    assert answer.start == [0, 10, 20, 20]
    assert answer.where[1] == [(0, [0, 1, 2, 3])]


def test_an_exclusive_gang_has_nodes_of_one_kind(run: Run) -> None:
    site = cluster_of("3x4", cpus=[8, 16, 16])
    answer = run(site, job(0, gpus=2, nodes=2, exclusive=True), job(0, gpus=3, nodes=3))
    assert [node for node, _ in answer.where[0]] == [1, 2]
    answer = run(site, job(0, gpus=3, nodes=3, exclusive=True))
    assert answer.rejected == {0}


def test_where_no_cpus_are_known_jobs_without_gpus_are_rejected_and_say_so() -> None:
    rows = (job(0, gpus=0, cpus=1), job(0))
    schedule = compiled_schedule(
        trace_of(*rows), cluster_of("2x4"), "fcfs", "best-fit", EASY, estimates_of(*rows)
    )
    assert schedule.rejections() == {CPUS_UNKNOWN: 1}


def test_a_cluster_without_any_gpu_is_replayed_by_its_cpus(run: Run) -> None:
    site = Cluster((Node("a", 0, cpus=4), Node("b", 0, cpus=4)))
    answer = run(
        site,
        *(job(0, run=10, gpus=0, cpus=3) for _ in range(3)),
        job(0, run=10, gpus=1),
        ordering="slurm-multifactor",
        backfill=EASY,
    )
    assert answer.start[:3] == [0, 0, 10]
    assert answer.rejected == {3}
    assert math.isnan(answer.start[3])


def test_a_node_has_gpus_or_a_known_number_of_cpus() -> None:
    with pytest.raises(ClusterError, match="no GPUs and no number of CPUs"):
        Node("a", 0)


def test_a_job_goes_only_on_nodes_with_the_features_that_it_asks_for(run: Run) -> None:
    plain = cluster_of("2x4", cpus=8)
    site = replace(plain, nodes=(plain.nodes[0], replace(plain.nodes[1], features=("gold", "ib"))))
    answer = run(
        site,
        job(0, gpus=1, constraint="gold&ib"),
        job(0, gpus=0, cpus=1, constraint="ib|cray"),
        job(0, gpus=1, constraint="cray"),
        job(0, gpus=1),
    )
    assert [where[0][0] for where in answer.where if where] == [1, 1, 0]
    assert answer.rejected == {2}


def test_where_no_node_names_features_constraints_bind_nobody(run: Run) -> None:
    assert run("1x4", job(0, constraint="gold")).start == [0]
