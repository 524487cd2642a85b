"""CPUs, memory, GPU types and speeds in cases small enough to work out by hand."""

from __future__ import annotations

import pytest

from dovetail.domain.policy import Backfill
from tests.builders import cluster_of, job
from tests.simulator.runs import Run

NONE, EASY, CONSERVATIVE = Backfill.NONE, Backfill.EASY, Backfill.CONSERVATIVE


@pytest.mark.parametrize("resource", ["cpus", "memory"])
def test_a_node_without_cpus_or_memory_left_hosts_nothing_though_gpus_are_free(
    run: Run, resource: str
) -> None:
    answer = run(
        cluster_of("2x4", cpus=8, memory_gb=8),
        job(0, run=10, gpus=1, **{resource: 8}),  # 0: node 0, all of it
        job(1, run=10, gpus=1, **{resource: 8}),  # 1: node 1
        job(2, run=10, gpus=1, **{resource: 1}),  # 10
    )
    assert answer.start == [0, 1, 10]


def test_a_gang_asks_each_node_for_its_share_of_the_cpus(run: Run) -> None:
    cluster = cluster_of("2x4", cpus=3)
    answer = run(
        cluster,
        job(0, run=10, gpus=6, cpus=6),  # four GPUs on one node would need four CPUs: rejected
        job(0, run=10, gpus=6, cpus=6, nodes=2),  # 0: three and three
        job(1, run=10, gpus=1, cpus=1),  # 10: GPUs are free, CPUs are not
    )
    assert answer.rejected == {0}
    assert answer.start[1:] == [0, 10]


def test_shares_of_the_cpus_are_rounded_up(run: Run) -> None:
    answer = run(
        cluster_of("2x8", cpus=[8, 1]),
        # Two GPUs on node 0 ask 0.667 CPUs, one GPU on node 1 asks 0.334: 1.002 for three jobs.
        *[job(0, run=10, gpus=3, nodes=2, cpus=1)] * 3,
    )
    assert answer.start == [0, 0, 10]


def test_easy_reserves_where_the_cpus_will_be_free(run: Run) -> None:
    answer = run(
        cluster_of("2x4", cpus=8),
        job(0, run=10, gpus=1, cpus=8),  # 0: node 0
        job(0, run=30, gpus=1, cpus=8),  # 0: node 1
        job(1, run=10, gpus=1, cpus=4),  # 10: head, on node 0, leaves four CPUs to spare
        job(2, run=99, gpus=1, cpus=0),  # 2: node 0, needs nothing but a GPU
        job(3, run=99, gpus=4, cpus=0),  # 30: node 1, once its job is gone
        backfill=EASY,
    )
    assert answer.start == [0, 0, 10, 2, 30]


@pytest.mark.parametrize(
    ("backfill", "last"), [(NONE, 10), (EASY, 2), (CONSERVATIVE, 2)], ids=lambda x: str(x)
)
def test_a_job_runs_on_types_that_it_allows_only(run: Run, backfill: Backfill, last: float) -> None:
    answer = run(
        "1x4:v100,1x4:p100",
        job(0, run=10, gpus=4, gpu_type="p100"),  # 0: node 1
        job(1, run=10, gpus=4, gpu_type="p100"),  # 10: node 1, though node 0 is free
        job(2, run=99, gpus=4, gpu_type="v100|p100"),  # node 0; blocked with the second by none
        backfill=backfill,
    )
    assert answer.start == [0, 10, last]
    assert [where[0][0] for where in answer.where] == [1, 1, 0]


def test_a_job_for_another_type_is_not_blocked(run: Run) -> None:
    answer = run(
        "1x4:v100,1x4:p100",
        job(0, run=10, gpus=4, gpu_type="p100"),
        job(1, run=10, gpus=4, gpu_type="p100"),
        job(2, run=10, gpus=4, gpu_type="v100"),
    )
    assert answer.start == [0, 10, 2]


def test_fast_gpus_shorten_run_times_and_estimates(run: Run) -> None:
    answer = run(
        cluster_of("1x4:a100", speed={"a100": 2.0}),
        job(0, run=20, gpus=3),  # 0: ends at 10
        job(1, run=10, gpus=4),  # 10
        job(2, run=16, gpus=1),  # 2: ends at 10, just in time
        job(3, run=1, gpus=4),  # 15
        backfill=EASY,
    )
    assert answer.start == [0, 10, 2, 15]
