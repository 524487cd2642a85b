"""EASY and conservative backfilling in cases small enough to work out by hand."""

from __future__ import annotations

import pytest

from dovetail.domain.policy import Backfill
from tests.builders import cluster_of, job
from tests.simulator.runs import Run

EASY, CONSERVATIVE = Backfill.EASY, Backfill.CONSERVATIVE
on_one_node_or_four = pytest.mark.parametrize("cluster", ["1x4", "4x1"])


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
