"""Cases small enough to work out by hand: each expected start is written beside its job."""

from __future__ import annotations

import math

import pytest

from dovetail.domain.policy import Backfill
from tests.builders import JobRow, cluster_of, job
from tests.simulator.runs import Run

EASY, CONSERVATIVE = Backfill.EASY, Backfill.CONSERVATIVE
every_backfill = pytest.mark.parametrize("backfill", list(Backfill), ids=lambda b: b.value)


# -- the queue -----------------------------------------------------------------------------


def test_without_backfilling_the_first_job_that_does_not_fit_blocks_all_others(run: Run) -> None:
    answer = run(
        "1x4",
        job(0, run=10, gpus=3),  # 0: at once
        job(1, run=10, gpus=4),  # 10: needs the whole node
        job(2, run=1, gpus=1),  # 20: fits all the time, but must not pass
    )
    assert answer.start == [0, 10, 20]
    assert answer.backfilled == [False, False, False]


def test_shortest_job_first_takes_the_queue_by_estimate(run: Run) -> None:
    answer = run(
        "1x1",
        job(0, run=10),  # 0: alone
        job(1, run=8),  # 17
        job(2, run=2),  # 10
        job(3, run=5),  # 12
        ordering="sjf",
    )
    assert answer.start == [0, 17, 10, 12]


def test_equal_scores_go_by_row(run: Run) -> None:
    answer = run("1x1", *[job(0, run=3)] * 3, ordering="sjf")
    assert answer.start == [0, 3, 6]


def test_a_job_that_takes_no_time_frees_its_gpu_at_the_same_moment(run: Run) -> None:
    answer = run("1x1", job(5, run=0), job(5, run=4), job(5, run=1))
    assert answer.start == [5, 5, 9]
    assert answer.events == 6


# -- gangs ---------------------------------------------------------------------------------


@every_backfill
def test_a_gang_waits_until_all_of_it_can_start(run: Run, backfill: Backfill) -> None:
    answer = run(
        "2x4",
        job(0, run=10, gpus=2),  # 0: node 0
        job(1, run=5, gpus=8),  # 10: six GPUs are free before, but not eight
        backfill=backfill,
    )
    assert answer.start == [0, 10]
    assert answer.where[1] == [(0, [0, 1, 2, 3]), (1, [0, 1, 2, 3])]


def test_a_job_larger_than_a_node_takes_whole_nodes_and_its_remainder_one_more(run: Run) -> None:
    answer = run("3x4", job(0, run=10, gpus=1), job(0, run=10, gpus=6))
    assert answer.where == [[(0, [0])], [(1, [0, 1, 2, 3]), (0, [1, 2])]]


def test_a_node_count_splits_a_job_evenly_with_the_larger_chunks_first(run: Run) -> None:
    answer = run("3x4", job(0, run=10, gpus=7, nodes=3))
    assert answer.where == [[(0, [0, 1, 2]), (1, [0, 1]), (2, [0, 1])]]


def test_a_job_that_fits_one_node_is_not_spread_over_free_gpus_of_two(run: Run) -> None:
    answer = run("2x4", job(0, run=9, gpus=3), job(0, run=7, gpus=3), job(0, run=1, gpus=2))
    assert answer.start == [0, 0, 7]


# -- what may not block whom ---------------------------------------------------------------


@every_backfill
def test_partitions_that_share_no_node_never_block_each_other(run: Run, backfill: Backfill) -> None:
    answer = run(
        cluster_of("2x4", partitions={"a": [0], "b": [1]}),
        job(0, run=10, gpus=4, partition="a"),  # 0
        job(1, run=10, gpus=4, partition="a"),  # 10
        job(2, run=99, gpus=4, partition="b"),  # 2: passes, and that is no backfilling
        backfill=backfill,
    )
    assert answer.start == [0, 10, 2]
    assert answer.backfilled == [False, False, False]


def test_each_partition_has_a_head_of_its_own_under_easy(run: Run) -> None:
    answer = run(
        cluster_of("2x4", partitions={"a": [0], "b": [1]}),
        job(0, run=10, gpus=3, partition="a"),  # 0
        job(0, run=20, gpus=3, partition="b"),  # 0
        job(1, run=10, gpus=4, partition="a"),  # 10: head of a
        job(2, run=10, gpus=4, partition="b"),  # 20: head of b
        job(3, run=15, gpus=1, partition="a"),  # 20: would delay the head of a
        job(4, run=15, gpus=1, partition="b"),  # 4: ends at 19, before the head of b
        backfill=EASY,
    )
    assert answer.start == [0, 0, 10, 20, 20, 4]


def test_partitions_that_overlap_do_block_each_other(run: Run) -> None:
    answer = run(
        cluster_of("1x4", partitions={"a": [0], "b": [0]}),
        job(0, run=10, gpus=3, partition="a"),
        job(1, run=10, gpus=4, partition="a"),
        job(2, run=1, gpus=1, partition="b"),
    )
    assert answer.start == [0, 10, 20]


@every_backfill
def test_a_job_larger_than_the_cluster_is_rejected_and_delays_nobody(
    run: Run, backfill: Backfill
) -> None:
    answer = run(
        "1x4",
        job(0, run=10, gpus=3),
        job(1, run=10, gpus=5),  # rejected
        job(2, run=10, gpus=1),
        backfill=backfill,
    )
    assert answer.rejected == {1}
    assert math.isnan(answer.start[1])
    assert (answer.start[0], answer.start[2]) == (0, 2)
    assert answer.where[1] == []
    assert answer.events == 5  # three submissions, two completions


@pytest.mark.parametrize(
    "impossible",
    [
        job(0, gpus=4, nodes=1, gpu_type="k80"),
        job(0, gpus=2, partition="c"),
        job(0, gpus=6, nodes=1),
        job(0, gpus=1, cpus=17),
        job(0, gpus=1, memory=33),
        job(0, gpus=1, mig="1g.5gb"),
    ],
    ids=["type", "partition", "node count", "cpus", "memory", "mig"],
)
def test_a_job_that_can_never_run_is_rejected(run: Run, impossible: JobRow) -> None:
    cluster = cluster_of("2x4:v100", cpus=16, memory_gb=32, partitions={"a": [0, 1]})
    assert run(cluster, impossible).rejected == {0}


# -- estimates -----------------------------------------------------------------------------


def test_an_estimate_that_proves_too_short_is_doubled_and_starts_nothing_early(run: Run) -> None:
    answer = run(
        "1x4",
        job(0, run=30, gpus=3, estimate=10),  # 0: believed to end at 10, then 20, then 40
        job(1, run=5, gpus=4),  # 30: not at 10, nor at 20
        job(2, run=15, gpus=1),  # 35: never short enough for the hole
        job(12, run=6, gpus=1),  # 12: ends at 18, before the 20 believed by then
        backfill=EASY,
    )
    assert answer.start == [0, 30, 35, 12]
    assert answer.events == 4 + 4 + 2  # submissions, completions, overruns


@pytest.mark.parametrize("backfill", [EASY, CONSERVATIVE], ids=lambda b: b.value)
def test_a_reserved_job_starts_early_when_others_end_early(run: Run, backfill: Backfill) -> None:
    answer = run(
        "1x4",
        job(0, run=4, gpus=3, estimate=100),  # 0
        job(1, run=5, gpus=4),  # 4: was promised 100
        backfill=backfill,
    )
    assert answer.start == [0, 4]


def test_a_backfilled_job_holds_the_head_no_longer_than_it_was_promised(run: Run) -> None:
    answer = run(
        "1x4",
        job(0, run=4, gpus=3, estimate=100),  # 0
        job(1, run=5, gpus=4),  # 52: promised 100
        job(2, run=50, gpus=1),  # 2: believed harmless, for the first job was to last until 100
        backfill=EASY,
    )
    assert answer.start == [0, 52, 2]


def test_estimates_below_a_second_count_as_a_second(run: Run) -> None:
    answer = run(
        "1x2",
        job(0, run=10, gpus=1),  # 0
        job(1, run=1, gpus=2),  # 10: the head
        job(9.5, run=0.25, gpus=1),  # 11: counts as one second, 10.5 is too late
        backfill=EASY,
    )
    assert answer.start == [0, 10, 11]
