"""Cases small enough to work out by hand: each expected start is written beside its job."""

from __future__ import annotations

import math

import pytest

from dovetail.domain.policy import Backfill
from tests.builders import JobRow, cluster_of, job
from tests.simulator.runs import Run

NONE, EASY, CONSERVATIVE = Backfill.NONE, Backfill.EASY, Backfill.CONSERVATIVE
on_one_node_or_four = pytest.mark.parametrize("cluster", ["1x4", "4x1"])
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


# -- easy ----------------------------------------------------------------------------------


def test_easy_fills_the_hole_before_the_head_with_a_short_job(run: Run) -> None:
    answer = run(
        "1x4",
        job(0, run=10, gpus=3),  # 0
        job(1, run=10, gpus=4),  # 10: the head, reserved for 10
        job(2, run=8, gpus=1),  # 2: ends at 10, just in time
        backfill=EASY,
    )
    assert answer.start == [0, 10, 2]
    assert answer.backfilled == [False, False, True]


def test_easy_keeps_a_job_back_that_would_delay_the_head(run: Run) -> None:
    answer = run(
        "1x4",
        job(0, run=10, gpus=3),  # 0
        job(1, run=10, gpus=4),  # 10
        job(2, run=9, gpus=1),  # 20: would end at 11
        backfill=EASY,
    )
    assert answer.start == [0, 10, 20]
    assert answer.backfilled == [False, False, False]


def test_easy_lets_a_long_job_pass_on_nodes_that_the_head_will_not_need(run: Run) -> None:
    answer = run(
        "2x4",
        job(0, run=10, gpus=3),  # 0: node 0, to 10
        job(1, run=20, gpus=3),  # 1: node 1, to 21
        job(2, run=10, gpus=4),  # 10: the head, reserved on node 0
        job(3, run=100, gpus=1),  # 3: node 1, which the head does not need
        job(4, run=100, gpus=1),  # 20: only node 0 has a GPU, and that is the head's
        backfill=EASY,
    )
    assert answer.start == [0, 1, 10, 3, 20]
    assert [where[0][0] for where in answer.where] == [0, 1, 0, 1, 0]
    assert answer.backfilled == [False, False, False, True, False]


@pytest.mark.parametrize("cluster", ["1x4", "2x2", "4x1"])
def test_easy_lets_a_long_job_pass_beside_the_head_on_any_split_of_four_gpus(
    run: Run, cluster: str
) -> None:
    answer = run(
        cluster,
        job(0, run=10, gpus=2),
        job(0, run=100, gpus=1),
        job(1, run=50, gpus=2),  # 10: a GPU is left to spare beside it
        job(2, run=1000, gpus=1),
        backfill=Backfill.EASY,
    )
    assert answer.start == [0, 0, 10, 2]


def test_easy_lets_long_jobs_pass_on_the_gpus_that_the_head_leaves_to_spare(run: Run) -> None:
    answer = run(
        "1x8",
        job(0, run=10, gpus=5),  # 0
        job(1, run=10, gpus=6),  # 10: the head leaves two GPUs to spare
        job(2, run=100, gpus=2),  # 2: takes both
        job(3, run=100, gpus=1),  # 20: nothing is left to spare, though a GPU is free
        backfill=EASY,
    )
    assert answer.start == [0, 10, 2, 20]


def test_two_jobs_of_one_pass_cannot_both_take_the_same_spare_gpus(run: Run) -> None:
    answer = run(
        "1x8",
        job(0, run=10, gpus=4),  # 0
        job(1, run=10, gpus=6),  # 10: two GPUs to spare, four free
        job(1, run=100, gpus=2),  # 1
        job(1, run=100, gpus=2),  # 20: the two are gone
        backfill=EASY,
    )
    assert answer.start == [0, 10, 1, 20]


# -- conservative --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("backfill", "starts"),
    [
        # The long narrow job fits beside the head, so easy starts it at 3 until 23 ...
        (EASY, [0, 10, 23, 3]),
        # ... conservative keeps it back for the second in the queue, promised 20.
        (CONSERVATIVE, [0, 10, 20, 30]),
    ],
    ids=["easy", "conservative"],
)
def test_only_conservative_protects_the_second_in_the_queue(
    run: Run, backfill: Backfill, starts: list[float]
) -> None:
    answer = run(
        "1x4",
        job(0, run=10, gpus=3),
        job(1, run=10, gpus=2),  # the head, reserved for 10
        job(2, run=10, gpus=4),  # the second, 20 at the earliest
        job(3, run=20, gpus=1),  # narrow and long
        backfill=backfill,
    )
    assert answer.start == starts


def test_conservative_fills_a_hole_between_two_reservations(run: Run) -> None:
    answer = run(
        "1x4",
        job(0, run=10, gpus=3),  # 0 to 10
        job(1, run=10, gpus=3),  # 10 to 20
        job(2, run=10, gpus=4),  # 20 to 30
        job(3, run=17, gpus=1),  # 3 to 20: beside the first two
        job(4, run=5, gpus=1),  # 30: the one GPU is taken until 20, all four until 30
        backfill=CONSERVATIVE,
    )
    assert answer.start == [0, 10, 20, 3, 30]
    assert answer.backfilled == [False, False, False, True, False]


@on_one_node_or_four
def test_conservative_keeps_a_promise_though_a_better_job_comes_later(
    run: Run, cluster: str
) -> None:
    answer = run(
        cluster,
        job(0, run=10, gpus=4),  # 0
        job(1, run=20, gpus=3),  # 10: promised when it came
        job(2, run=5, gpus=4),  # 30: shorter, but it came later
        ordering="sjf",
        backfill=CONSERVATIVE,
    )
    assert answer.start == [0, 10, 30]


@on_one_node_or_four
def test_conservative_brings_promises_forward_when_a_job_ends_early(run: Run, cluster: str) -> None:
    answer = run(
        cluster,
        job(0, run=4, gpus=3, estimate=100),  # 0
        job(1, run=10, gpus=2),  # 4: was promised 100
        job(2, run=10, gpus=4),  # 33: was promised 110
        job(3, run=30, gpus=1),  # 3: ends long before 100
        backfill=CONSERVATIVE,
    )
    assert answer.start == [0, 4, 33, 3]
    assert answer.backfilled == [False, False, False, True]


@on_one_node_or_four
def test_conservative_does_not_bring_a_promise_forward_over_that_of_a_later_job(
    run: Run, cluster: str
) -> None:
    answer = run(
        cluster,
        job(0, run=10, gpus=2),  # 0
        job(0, run=8, gpus=2, estimate=20),  # 0
        job(1, run=10, gpus=4),  # 18: was promised 20, and at 8 the next one still had 10 to 20
        job(2, run=10, gpus=2),  # 8: was promised 10
        backfill=CONSERVATIVE,
    )
    assert answer.start == [0, 0, 18, 8]


@pytest.mark.parametrize("cluster", ["1x6", "6x1"])
def test_conservative_holds_a_pass_at_a_promised_time_though_no_job_ends_then(
    run: Run, cluster: str
) -> None:
    answer = run(
        cluster,
        job(0, run=10, gpus=3, estimate=5),  # 0: believed to end at 5, then at 10
        job(1, run=5, gpus=5, estimate=20),  # 10: promised 5
        job(3, run=5, gpus=3),  # 5: promised 25; at 5 it can be seen that it has until 10
        backfill=CONSERVATIVE,
    )
    assert answer.start == [0, 10, 5]


@pytest.mark.parametrize("cluster", ["1x1", "2x1"])
def test_an_overrun_makes_conservative_promise_anew_in_the_order_of_the_queue(
    run: Run, cluster: str
) -> None:
    gpus = cluster_of(cluster).total_gpus
    answer = run(
        cluster,
        job(0, run=15, gpus=gpus, estimate=10),  # 0: believed to end at 10, then at 20
        job(1, run=9, gpus=gpus),  # 17: promised 10 when it came
        job(2, run=2, gpus=gpus),  # 15: promised 19, but anew the shorter goes first
        ordering="sjf",
        backfill=CONSERVATIVE,
    )
    assert answer.start == [0, 17, 15]


def test_conservative_promises_nodes_that_get_free_last_and_leaves_the_free_one(run: Run) -> None:
    answer = run(
        "3x4",
        job(0, run=1, gpus=4),  # 0: node 0, free from 1 on
        job(0, run=10, gpus=4),  # 0: node 1
        job(0, run=10, gpus=4),  # 0: node 2
        job(1, run=10, gpus=8),  # 10: promised nodes 1 and 2
        job(2, run=100, gpus=3),  # 2: node 0
        backfill=CONSERVATIVE,
    )
    assert answer.start == [0, 0, 0, 10, 2]


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


# -- CPUs, memory, types, speeds -----------------------------------------------------------


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
