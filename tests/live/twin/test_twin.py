"""The twin: exact on its own kind, and honest about the distance to a real cluster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dovetail import load_trace
from dovetail.domain.associations import Association
from dovetail.domain.cluster import Cluster, Node, Partition
from dovetail.domain.errors import TraceError
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import Bools, JobColumns
from dovetail.domain.policy import Backfill, SlurmBackfill
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.live.journal.records import EndedRun
from dovetail.live.model.mode import Mode
from dovetail.live.model.site import SiteSettings
from dovetail.live.twin.comparison import compare_with_twin
from dovetail.live.twin.order import Order, slurm_order
from dovetail.live.twin.unfinished import UsualRun, unfinished_runs
from dovetail.live.twin.watch import MOST_BIAS, bias_of
from dovetail.policies.policy import policy_named
from dovetail.prediction import HISTORY
from dovetail.simulator import simulate
from dovetail.simulator.priority_points import priority_points
from tests.live.journal.builders import run, waiting

SETTINGS = {
    "PriorityWeightAge": "1000",
    "PriorityWeightFairShare": "0",
    "PriorityWeightJobSize": "500",
    "PriorityWeightPartition": "0",
    "PriorityWeightQOS": "0",
    "PriorityMaxAge": "7-00:00:00",
    "PriorityDecayHalfLife": "7-00:00:00",
}
SITE = SiteSettings(SETTINGS).added_to(Cluster.parse("4x8"))


def recorded(order: Order) -> Schedule:
    """A cluster that does exactly what the simulator would."""
    trace = load_trace("synth:helios", jobs=1500, seed=3, load=1.1, cluster_gpus=32)
    limit = np.clip(trace.jobs.run * 1.5, 60, None)
    trace = Trace(replace(trace.jobs, limit=limit), "recorded")
    estimates = Estimates("limit", trace.jobs.limit)
    return simulate(
        trace,
        SITE,
        order.ordering,
        order.placement,
        order.backfill,
        estimates,
        HISTORY,
    )


OURS = Order(*policy_named("saf"))


def test_a_cluster_that_is_a_simulator_is_predicted_exactly() -> None:
    real = recorded(slurm_order(SITE))
    twin = compare_with_twin(real, float(real.trace.jobs.submit[0]), OURS, slurm_order(SITE))
    assert twin.error == pytest.approx(0.0, abs=1e-9)
    assert twin.median_error == pytest.approx(0.0, abs=1e-6)
    assert twin.recorded == pytest.approx(twin.slurm)


def test_the_twin_starts_from_the_jobs_that_run_and_wait() -> None:
    """With EASY, because nobody knows when Slurm's last backfill cycle was."""
    easy = replace(slurm_order(SITE), backfill=Backfill.EASY)
    real = recorded(easy)
    twin = compare_with_twin(real, float(real.trace.jobs.submit[500]), OURS, easy)
    assert twin.error == pytest.approx(0.0, abs=1e-9)
    assert twin.jobs == 1000


def test_jobs_without_gpus_take_room_in_the_twin_and_are_not_counted() -> None:
    easy = replace(slurm_order(SITE), backfill=Backfill.EASY)
    trace = recorded(easy).trace
    rows = np.arange(len(trace)) % 3 == 0
    jobs = replace(
        trace.jobs,
        gpus=np.where(rows, 0, trace.jobs.gpus),
        nodes=np.where(rows, 0, trace.jobs.nodes),
        cpus=np.where(rows, 24.0, 4.0),
    )
    nodes = tuple(Node(f"n{i}", 8, cpus=32.0) for i in range(4))
    real = simulate(
        Trace(jobs, "mixed"), Cluster(nodes), easy.ordering, easy.placement, easy.backfill,
        Estimates("limit", jobs.limit), HISTORY,
    )  # fmt: skip
    twin = compare_with_twin(real, float(jobs.submit[300]), OURS, easy)
    assert twin.error == pytest.approx(0.0, abs=1e-9)
    assert twin.jobs == int((~rows[300:]).sum())


def test_what_our_order_would_change_comes_with_an_interval() -> None:
    real = recorded(slurm_order(SITE))
    twin = compare_with_twin(real, float(real.trace.jobs.submit[0]), OURS, slurm_order(SITE))
    assert twin.difference.value == pytest.approx(twin.ours - twin.slurm)
    assert twin.difference.low < twin.difference.value < twin.difference.high
    assert twin.difference.high < 0  # smallest area first shortens the mean wait


def test_in_active_mode_the_twin_is_measured_by_our_order() -> None:
    real = recorded(OURS)
    active = replace(real, config={**real.config, "active_share": 1.0})
    since = float(real.trace.jobs.submit[0])
    assert compare_with_twin(active, since, OURS, slurm_order(SITE)).error < 1e-9
    assert compare_with_twin(real, since, OURS, slurm_order(SITE)).error > 0.05


def seen_at(schedule: Schedule, now: float, rows: Bools) -> Schedule:
    """Of these jobs what is known at that moment: those that wait start then, at the earliest."""
    kept = np.flatnonzero(rows)
    chunks = [
        np.arange(schedule.chunk_offset[row], schedule.chunk_offset[row + 1])
        if schedule.start[row] < now
        else np.arange(0)
        for row in kept.tolist()
    ]
    start, at = np.minimum(schedule.start[kept], now), np.concatenate(chunks).astype(np.int64)
    return replace(
        schedule,
        trace=Trace(schedule.trace.jobs.take(kept), "seen"),
        start=start,
        end=start + schedule.trace.jobs.run[kept],
        **{name: getattr(schedule, name)[kept] for name in ("estimate", "backfilled", "rejected")},
        chunk_offset=np.cumsum([0, *map(len, chunks)]).astype(np.int64),
        chunk_node=schedule.chunk_node[at],
        chunk_gpus=schedule.chunk_gpus[at],
        config={"active_share": 1.0},
    )


def test_jobs_that_still_run_or_wait_are_part_of_the_load_that_slurm_would_have_had() -> None:
    """Without them the twin's Slurm has hardly a queue, and the trip-wire would raise an alarm."""
    slurm = slurm_order(SITE)
    real, alone = recorded(OURS), recorded(slurm)
    submit = real.trace.jobs.submit
    now = float(submit[900])
    truth = np.minimum(alone.start[:900], now) - submit[:900]
    since, came = float(submit[0]), submit < now
    whole = compare_with_twin(seen_at(real, now, came), since, OURS, slurm, now)
    ended = compare_with_twin(seen_at(real, now, came & (real.end <= now)), since, OURS, slurm, now)
    assert whole.slurm == pytest.approx(float(truth.mean()), rel=0.02)
    assert ended.slurm < 0.7 * whole.slurm
    assert whole.recorded == pytest.approx(
        float(np.mean(np.minimum(real.start[:900], now) - submit[:900]))
    )


def test_pauses_between_jobs_are_found_and_lengthen_the_twins_waits() -> None:
    slurm = replace(slurm_order(SITE), backfill=Backfill.EASY)
    quick = recorded(slurm)
    jobs = quick.trace.jobs
    slow = Trace(replace(jobs, run=jobs.run + 20.0), "slow")
    estimates = Estimates("limit", jobs.limit + 20.0)
    paused = simulate(
        slow, quick.cluster, slurm.ordering, slurm.placement, slurm.backfill, estimates, HISTORY
    )
    real = replace(paused, trace=quick.trace, end=paused.end - 20.0)
    twin = compare_with_twin(real, float(jobs.submit[0]), OURS, slurm)
    assert twin.pause == pytest.approx(20.0, abs=1.0)
    assert twin.error < 0.01


def test_an_unfinished_job_takes_what_jobs_usually_take_of_their_limits() -> None:
    ended = [EndedRun(run(n, 0.0, limit=1000.0), 250.0, "COMPLETED") for n in range(4)]
    usual = UsualRun.of_ended(ended)
    waits = waiting(8, limit=2000.0, gpus=2, tasks=3, priority=1)
    running = run(7, 400.0, limit=1000.0)
    held = waiting(9, gpus=1, reason="JobHeldUser")
    found = unfinished_runs(usual, [running], [waits, held], 600.0, Mode.ACTIVE)
    assert [(each.run.job, each.run.start, each.end) for each in found] == [
        (7, 400.0, 800.0),  # half-way after 200 s
        *[(8, 600.0, 1100.0)] * 3,
    ]


def test_too_few_jobs_are_no_comparison() -> None:
    real = recorded(OURS)
    with pytest.raises(TraceError, match="too few"):
        compare_with_twin(real, float(real.trace.jobs.submit[-3]), OURS, slurm_order(SITE))


def test_weights_and_times_come_from_slurms_own_configuration() -> None:
    order = order_of({**SETTINGS, "PriorityMaxAge": "1-02:00:00", "PriorityWeightFairShare": "7"})
    weights = order.ordering.parameters
    assert order.backfill == SlurmBackfill()
    assert (weights["age"], weights["fair_share"], weights["max_age"]) == (1000, 7, 26 * 3600)


def test_what_may_pass_comes_from_slurms_own_configuration() -> None:
    told = {**SETTINGS, "SchedulerParameters": "defer,bf_interval=60,bf_window=4320"}
    assert order_of(told).backfill == SlurmBackfill(interval=60, window=4320)
    assert order_of({"SchedulerParameters": "bf_interval=-7"}).backfill == SlurmBackfill()
    assert order_of({"SchedulerType": "sched/builtin"}).backfill is Backfill.NONE
    assert order_of({}) == Order(*policy_named("fcfs"))


def order_of(settings: dict[str, str]) -> Order:
    return slurm_order(SiteSettings(settings).added_to(Cluster.parse("4x8")))


def test_sizes_accounts_qos_and_billing_are_as_slurm_counts_them() -> None:
    """A job of eight GPUs on one of five nodes is no bigger to Slurm than one of a single GPU."""
    nodes = tuple(Node(f"n{i}", 8, cpus=16.0) for i in range(5))
    plain = Cluster(nodes, (Partition("gpu", frozenset(range(5))),))
    site = SiteSettings(
        {"PriorityWeightJobSize": "1000", "PriorityWeightQOS": "100", "PriorityFlags": "(null)"},
        (Association("optics"), Association("optics", user="ann", shares=3)),
        {"high": 2.0, "low": 1.0},
        {"gpu": (("gpu", 1.0),)},
    )
    cluster = site.added_to(plain)
    jobs = JobColumns(
        submit=[0.0] * 3, run=[1.0] * 3, gpus=[1, 8, 8], nodes=[1, 1, 1], cpus=[2, 2, 16],
        qos=["low", "low", "high"], partition=["gpu"] * 3,
    ).build()  # fmt: skip
    assert priority_points(jobs, cluster) == pytest.approx([162.5, 162.5, 300.0])
    assert cluster.associations == site.associations
    assert cluster.partitions[0].billing == (("gpu", 1.0),)


def test_what_shadow_mode_shows_the_twin_to_miss_is_not_held_against_us() -> None:
    real = recorded(slurm_order(SITE))
    twin = compare_with_twin(real, float(real.trace.jobs.submit[0]), OURS, slurm_order(SITE))
    assert bias_of(twin) == pytest.approx(1.0)
    assert bias_of(replace(twin, recorded=2 * twin.slurm)) == pytest.approx(2.0)
    assert bias_of(replace(twin, recorded=9 * twin.slurm)) == MOST_BIAS
    assert bias_of(replace(twin, recorded=0.1 * twin.slurm)) == 1.0


def test_the_twins_order_near_slurms_goes_by_the_sites_weights() -> None:
    """A whole node for ten hours, or one GPU for ten minutes: the usual weights favour size."""
    limit = [7200.0, 36_000.0, 600.0]
    jobs = JobColumns(
        submit=[0.0, 10.0, 10.0], run=limit, gpus=[8, 8, 1], limit=limit, user=["ada"] * 3
    ).build()
    order = Order(*policy_named("slurm-shorter-10"))

    def second(site: SiteSettings) -> int:
        cluster = site.added_to(Cluster.parse("1x8"))
        trace, told = Trace(jobs, "three jobs"), Estimates("limit", jobs.limit)
        played = simulate(
            trace, cluster, order.ordering, order.placement, Backfill.NONE, told, HISTORY
        )
        return int(np.argsort(played.start)[1])

    assert second(SiteSettings()) == 1
    assert second(SiteSettings({**SETTINGS, "PriorityWeightJobSize": "0"})) == 2
