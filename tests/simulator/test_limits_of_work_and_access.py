"""Limits of work, of nodes and from below, who may be where, default times: the oracle, by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail import api
from dovetail.domain.access import Access
from dovetail.domain.cluster import Cluster, Partition
from dovetail.domain.limits import Each, Limit
from dovetail.domain.outages import NodeReservation
from dovetail.domain.policy import Backfill, BackfillRule, SlurmBackfill
from dovetail.domain.schedule import Schedule
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.simulator.build import Tables
from dovetail.simulator.rejections import NOT_LET_IN, OVER_LIMIT, TOO_LONG, UNDER_LIMIT
from dovetail.traces.anonymity import anonymise
from tests.builders import JobRow, cluster_of, estimates_of, job, trace_of
from tests.oracles.cases import Case, cases, choosy
from tests.simulator.runs import Run, compiled_schedule
from tests.simulator.test_eligibility import quick, refuse_parting
from tests.simulator.test_outages import troubled

EVERY = [*Backfill, SlurmBackfill(interval=7.0, resolution=3.0)]
every_backfill = pytest.mark.parametrize("backfill", list(Backfill), ids=lambda part: part.value)
ACCESS = (
    Access(),
    Access(accounts=("physics",)),
    Access(not_accounts=("biology",), qos=("high", "normal")),
    Access(not_qos=("normal",)),
)


def ruled(case: Case) -> Case:
    """The same case at a site with limits of work, of nodes and from below, and closed doors."""
    random = Random(len(case.rows) + 31 * len(case.cluster.nodes))
    scale = max(1.0, max(row.run for row in case.rows) / 60.0)
    parts = tuple(
        replace(
            part,
            access=random.choice(ACCESS),
            default_minutes=random.choice((math.inf, 0.5, 2.0 * scale)),
        )
        for part in case.cluster.partitions
    )
    limits = (*case.cluster.limits, *(_limit(random, scale) for _ in range(random.randint(1, 3))))
    rows = tuple(
        replace(
            row,
            limit=random.choice(
                (math.nan, max(1.0, row.run), 0.7 * row.run + 0.1, 30.0, 60.0 * scale)
            ),
            user=random.choice((None, "ann", "ann", "bob")),
            account=random.choice((None, "physics", "biology")),
            qos=random.choice((None, "high", "normal")),
        )
        for row in case.rows
    )
    return replace(case, cluster=replace(case.cluster, partitions=parts, limits=limits), rows=rows)


def _limit(random: Random, scale: float) -> Limit:
    who = {
        "users": random.choice(((), (), ("ann",))),
        "qos": random.choice(((), (), ("high",))),
        "partitions": random.choice(((), (), ("left",))),
    }
    one = random.choice((
        {"each": Each.NODE, random.choice(("gpus", "cpus")): random.choice((1, 2, 3))},
        {"each": Each.JOB, random.choice(("least_gpus", "least_nodes")): random.choice((1, 2))},
        {"each": Each.JOB, "gpu_minutes": 2.0 * scale},
        *[
            {
                "each": random.choice((Each.ALL, Each.USER, Each.ACCOUNT)),
                random.choice(("gpu_minutes", "cpu_minutes", "node_minutes")):
                    random.choice((1.0, 2.5, 6.0)) * scale,
            }
        ] * 3,
    ))  # fmt: skip
    return Limit(**who, **one)  # type: ignore[arg-type]


@settings(quick, max_examples=150)
@given(
    case=st.one_of(
        cases(most_jobs=18).map(ruled),
        cases(most_jobs=14).map(choosy).map(ruled),
        cases(most_jobs=14).map(troubled).map(ruled),
    ),
    ordering=st.sampled_from(list(ORDERINGS)),
    backfill=st.sampled_from(EVERY),
)
def test_jobs_run_under_these_rules_as_in_the_oracle(
    case: Case, ordering: str, backfill: BackfillRule
) -> None:
    refuse_parting(case, ordering, backfill)


def limited(spec: str, *limits: Limit) -> Cluster:
    return replace(cluster_of(spec), limits=limits)


def replayed(site: Cluster, *rows: JobRow) -> Schedule:
    told = estimates_of(*rows)
    return compiled_schedule(trace_of(*rows), site, "fcfs", "best-fit", Backfill.EASY, told)


@every_backfill
def test_work_that_running_jobs_have_left_shrinks_as_they_run(run: Run, backfill: Backfill) -> None:
    site = limited("1x8", Limit(each=Each.USER, gpu_minutes=15))
    answer = run(
        site,
        job(0, run=600, gpus=1, limit=600, user="ann"),  # ten minutes of one GPU
        job(0, run=600, gpus=1, limit=600, user="ann"),  # 300: five are left of the first
        job(0, run=600, gpus=1, limit=600, user="bob"),  # 0
        job(300, run=1, gpus=1, limit=60, user="cat"),
        backfill=backfill,
    )
    assert answer.start == [0, 300, 0, 300]


def test_a_job_beyond_its_limit_has_no_work_left(run: Run) -> None:
    site = limited("1x8", Limit(gpu_minutes=1))
    answer = run(site, job(0, run=500, limit=60), job(61, run=10, limit=60))
    assert answer.start == [0, 61]


def test_jobs_without_a_time_limit_count_for_no_work(run: Run) -> None:
    site = limited("1x8", Limit(gpu_minutes=1))
    answer = run(site, job(0, run=500), job(0, run=10, limit=60), job(0, run=10, limit=60))
    assert answer.start == [0, 0, 10]


def test_a_job_that_would_work_too_much_or_asks_for_too_little_is_rejected() -> None:
    site = limited(
        "2x4",
        Limit(qos=("long",), each=Each.JOB, gpu_minutes=60),  # MaxTRESMins
        Limit(qos=("large",), each=Each.JOB, least_gpus=2),  # MinTRES
        Limit(qos=("thin",), each=Each.NODE, gpus=2),  # MaxTRESPerNode
    )
    rows = (
        job(0, gpus=2, limit=1800, qos="long"),
        job(0, gpus=2, limit=1860, qos="long"),  # 62 minutes of a GPU
        job(0, gpus=2, qos="long"),
        job(0, gpus=1, qos="large"),
        job(0, gpus=2, qos="large"),
        job(0, gpus=4, nodes=2, qos="thin"),
        job(0, gpus=4, qos="thin"),
    )
    schedule = replayed(site, *rows)
    assert schedule.rejections() == {OVER_LIMIT: 2, UNDER_LIMIT: 1}
    assert schedule.ran.tolist() == [True, False, True, False, True, True, False]


def parts(*access: Access, **facts: float) -> Cluster:
    plain = cluster_of("2x4")
    names = ("left", "right")
    return replace(
        plain,
        partitions=tuple(
            Partition(name, frozenset({number}), access=own, **facts)  # type: ignore[arg-type]
            for number, (name, own) in enumerate(zip(names, access, strict=False))
        ),
    )


def test_jobs_that_a_partition_does_not_let_in_are_rejected_with_that_reason() -> None:
    site = parts(Access(accounts=("physics",), not_qos=("low",)), Access())
    rows = (
        job(0, partition="left", account="physics"),
        job(0, partition="left", account="biology"),
        job(0, partition="left", account="physics", qos="low"),
        job(0, partition="left"),  # nobody knows
        job(0, partition="left,right", account="biology"),  # goes where it may
    )
    schedule = replayed(site, *rows)
    assert schedule.rejections() == {NOT_LET_IN: 2}
    assert schedule.where(4)[0][0] == "gpu-1"


def test_jobs_of_an_anonymised_history_are_let_in() -> None:
    site = parts(Access(accounts=("physics",)), Access())
    trace = anonymise(trace_of(job(0, partition="left", account="physics")))
    assert api.simulate(trace, site, estimates="exact").ran.all()


def test_a_job_whose_limit_is_unknown_has_that_of_its_partition() -> None:
    site = replace(
        parts(Access(), default_minutes=120),
        limits=(Limit(partitions=("left",), each=Each.JOB, minutes=60),),
    )
    rows = job(0, partition="left"), job(0, partition="left", limit=3600)
    schedule = replayed(site, *rows)
    assert schedule.rejections() == {TOO_LONG: 1}
    told = api.simulate(trace_of(*rows), replace(site, limits=()))
    assert told.estimate.tolist() == [7200.0, 3600.0]
    assert told.config["estimates"] == "limit"


def test_a_reservation_is_for_those_whom_it_names() -> None:
    theirs = NodeReservation(
        frozenset({1}), 100.0, 200.0, "course", Access(users=("ann",), not_accounts=("biology",))
    )
    site = replace(cluster_of("2x4"), reservations=(theirs,))
    rows = (
        job(0, user="ann", reservation="course"),
        job(0, user="bob", reservation="course"),
        job(0, user="ann", account="biology", reservation="course"),
        job(0, reservation="course"),  # nobody knows whose it is
    )
    schedule = replayed(site, *rows)
    assert schedule.start.tolist() == [100.0, 0.0, 0.0, 100.0]
    assert schedule.config["reservations"]["not_let_in"] == 2


def test_a_site_without_such_limits_counts_nobodys_work() -> None:
    site, rows = limited("1x4", Limit(jobs=1)), (job(0), job(0))
    tables = Tables(
        trace_of(*rows).jobs, site, ORDERINGS["fcfs"], PLACEMENTS["best-fit"], estimates_of(*rows)
    )
    assert not tables.world["timed"][0]
    assert np.all(tables.limit_links["seconds"] == -1)
