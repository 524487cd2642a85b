"""Limits per user, account, QOS and partition, and tiers, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dovetail.domain.cluster import Cluster
from dovetail.domain.limits import Each, Limit
from dovetail.domain.policy import Backfill
from dovetail.simulator.rejections import OVER_LIMIT, REFUSED, TOO_LONG
from tests.builders import JobRow, cluster_of, estimates_of, job, trace_of
from tests.simulator.runs import Run, compiled_schedule

EASY = Backfill.EASY
every_backfill = pytest.mark.parametrize("backfill", list(Backfill), ids=lambda part: part.value)


def limited(spec: str, *limits: Limit, **facts: object) -> Cluster:
    return replace(cluster_of(spec, **facts), limits=limits)  # type: ignore[arg-type]


@every_backfill
def test_a_job_at_a_limit_waits_and_blocks_nobody(run: Run, backfill: Backfill) -> None:
    site = limited("1x4", Limit(each=Each.USER, jobs=1))
    answer = run(
        site,
        job(0, run=10, gpus=1, user="ann"),  # 0
        job(1, run=10, gpus=1, user="ann"),  # 10: one at a time
        job(2, run=10, gpus=3, user="bob"),  # 2: passes
        backfill=backfill,
    )
    assert answer.start == [0, 10, 2]
    assert not any(answer.backfilled)


@every_backfill
def test_accounts_share_what_their_group_may_have(run: Run, backfill: Backfill) -> None:
    site = limited("2x4", Limit(accounts=("physics", "optics"), gpus=4))
    answer = run(
        site,
        job(0, run=10, gpus=3, account="physics"),  # 0
        job(1, run=10, gpus=2, account="optics"),  # 10: five would be too many
        job(2, run=10, gpus=1, account="optics"),  # 2: four are not
        job(3, run=10, gpus=4, account="biology"),  # 3: not of the group
        backfill=backfill,
    )
    assert answer.start == [0, 10, 2, 3]


def test_a_limited_job_gets_no_reservation(run: Run) -> None:
    site = limited("1x4", Limit(qos=("long",), cpus=4), cpus=8)
    answer = run(
        site,
        job(0, run=50, gpus=1, cpus=4, qos="long"),  # 0
        job(1, run=10, gpus=4, cpus=4, qos="long"),  # 103: until 50 at its limit
        job(2, run=100, gpus=3, cpus=0),  # 3: nothing is reserved for the job before it
        backfill=EASY,
    )
    assert answer.start == [0, 102, 2]


def test_what_a_qos_says_stands_before_what_an_account_says(run: Run) -> None:
    wide, narrow = Limit(qos=("high",), each=Each.USER, jobs=3), Limit(each=Each.USER, jobs=1)
    site = limited("1x4", wide, narrow)
    answer = run(
        site,
        *(job(0, run=10, user="ann", qos="high") for _ in range(2)),  # both at once
        *(job(0, run=10, user="ann", qos="normal") for _ in range(2)),  # three of ann's are above 1
    )
    assert answer.start == [0, 0, 10, 20]


def test_no_more_are_submitted_than_may_wait_and_run() -> None:
    site = limited("1x1", Limit(each=Each.USER, submitted=2))
    rows = (
        job(0, run=10, user="ann"),
        job(1, run=10, user="ann"),
        job(2, run=10, user="ann"),  # refused
        job(2, run=10, user="bob"),
        job(11, run=10, user="ann"),  # the first has ended
    )
    schedule = replayed(site, *rows)
    assert schedule.rejections() == {REFUSED: 1}
    assert schedule.start[[0, 1, 3, 4]].tolist() == [0, 10, 20, 30]


def test_jobs_that_could_never_start_are_rejected_with_their_reason() -> None:
    site = limited(
        "2x4", Limit(partitions=("gpu",), each=Each.JOB, minutes=60), Limit(qos=("q",), gpus=4)
    )
    rows = (
        job(0, partition="gpu", limit=3600),
        job(0, partition="gpu", limit=3601),
        job(0, gpus=5, qos="q"),
        job(0, gpus=5),
    )
    schedule = replayed(site, *rows)
    assert schedule.rejections() == {TOO_LONG: 1, OVER_LIMIT: 1}
    assert schedule.ran.tolist() == [True, False, False, True]


@every_backfill
def test_jobs_of_a_higher_tier_go_first_whatever_their_scores(run: Run, backfill: Backfill) -> None:
    plain = cluster_of("1x4", partitions={"urgent": [0], "batch": [0]})
    high, low = (
        replace(part, tier=tier) for part, tier in zip(plain.partitions, (5, 1), strict=True)
    )
    site = replace(plain, partitions=(high, low))
    answer = run(
        site,
        job(0, run=10, gpus=4, partition="batch"),  # 0
        job(1, run=10, gpus=4, partition="batch"),  # 20
        job(2, run=10, gpus=4, partition="urgent"),  # 10
        backfill=backfill,
    )
    assert answer.start[0] == 0
    if backfill is not Backfill.CONSERVATIVE:  # there what is promised is kept
        assert answer.start[1:] == [20, 10]


def test_jobs_of_an_exclusive_partition_take_whole_nodes(run: Run) -> None:
    plain = cluster_of("1x4", partitions={"whole": [0], "shared": [0]})
    whole, shared = plain.partitions
    site = replace(plain, partitions=(replace(whole, exclusive=True), shared))
    answer = run(site, job(0, partition="whole"), job(1, partition="shared"))
    assert answer.start == [0, 10]


def replayed(site: Cluster, *rows: JobRow):  # type: ignore[no-untyped-def]
    return compiled_schedule(trace_of(*rows), site, "fcfs", "best-fit", EASY, estimates_of(*rows))
