"""The digital twin: the simulator on what really happened, under Slurm's order and under ours.

Both run on the same jobs from the same state, and as far as the recording goes: a job that had not
started by then counts with what it had waited, there and here. That the twin's Slurm differs from
the real one is why it is compared with what was recorded, too: a difference smaller than that says
little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import TraceError
from dovetail.domain.estimates import Estimates
from dovetail.domain.group_waits import GroupWaits, group_waits
from dovetail.domain.jobs import Floats
from dovetail.domain.policy import Backfill, BackfillRule, Ordering, Placement, SlurmBackfill
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.evaluation.statistics import Interval, difference_of_means
from dovetail.live.cycle.queue_window import NO_LIMIT
from dovetail.live.twin.pauses import pause_of
from dovetail.live.twin.wanted import live_measures
from dovetail.policies.ordering.aging import MultifactorWeights, slurm_multifactor
from dovetail.policies.ordering.index import order_alone
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY
from dovetail.simulator import Window, simulate_window, warm_window
from dovetail.slurm.durations import seconds_of

BLOCK = 3600.0
"""Seconds of submissions that are drawn together: jobs of one hour share one queue."""

LEAST_JOBS = 10
"""Fewer say nothing."""


@dataclass(frozen=True, slots=True)
class Twin:
    """What the twin found; waits are means in seconds over the same jobs."""

    since: float
    until: float
    jobs: int
    recorded: float  # as it really was
    slurm: float  # by the twin, under Slurm's own order
    ours: float  # by the twin, under our policy
    difference: Interval  # ours − slurm
    active: bool  # most jobs started in active mode: our order was in force
    error: float  # |twin − recorded| / recorded, of the order that was in force
    median_error: float  # seconds by which single jobs' waits differ, in the middle
    groups: tuple[GroupWaits, ...] = ()  # by the twin: Slurm's order, then ours
    real_groups: tuple[GroupWaits, ...] = ()  # Slurm's order by the twin, then as it was
    # what an objective weighs: as it was, by the twin under Slurm's order, and under ours
    real_measures: Mapping[str, float] = field(default_factory=dict)
    slurm_measures: Mapping[str, float] = field(default_factory=dict)
    our_measures: Mapping[str, float] = field(default_factory=dict)
    whole_policy: float = math.nan  # mean wait if Slurm followed all wishes of the policy
    pause: float = 0.0  # seconds that GPUs stay idle between jobs, beyond what the twin has itself

    def __str__(self) -> str:
        return (
            f"{self.jobs} jobs: mean wait {self.recorded:.0f} s as it was, "
            f"{self.slurm:.0f} s by the twin under Slurm, {self.ours:.0f} s under Dovetail "
            f"(difference {self.difference} s); the twin is off by {self.error:.0%}"
        )


@dataclass(frozen=True, slots=True)
class Order:
    """An ordering with the placement that goes with it, and what the cluster's Slurm lets pass."""

    ordering: Ordering
    placement: Placement
    backfill: BackfillRule = field(default_factory=SlurmBackfill)


def slurm_order(settings: Mapping[str, str]) -> Order:
    """Slurm alone, by its own configuration: multifactor weights, or first come first served."""
    placement = PLACEMENTS["best-fit"]  # what cons_tres does by default
    weights = MultifactorWeights(
        age=_number(settings, "PriorityWeightAge"),
        fair_share=_number(settings, "PriorityWeightFairShare"),
        job_size=_number(settings, "PriorityWeightJobSize"),
        partition=_number(settings, "PriorityWeightPartition"),
        qos=_number(settings, "PriorityWeightQOS"),
        max_age=_seconds(settings, "PriorityMaxAge", MultifactorWeights().max_age),
        half_life=_seconds(settings, "PriorityDecayHalfLife", MultifactorWeights().half_life),
    )
    if settings.get("SchedulerType") == "sched/builtin":
        return Order(slurm_multifactor(weights), placement, Backfill.NONE)
    backfill = SlurmBackfill.of_slurm(settings.get("SchedulerParameters", ""))
    return Order(slurm_multifactor(weights), placement, backfill)


def compare_with_twin(
    recorded: Schedule, since: float, ours: Order, slurm: Order, until: float = math.inf
) -> Twin:
    """Replay the jobs submitted since then, from the state of that moment, under both orders.

    `until`: when the recording ends; jobs that start then in it had not started yet.
    """
    recorded = as_simulated(recorded, until)
    submit = recorded.trace.jobs.submit
    first = int(np.searchsorted(submit, since))
    window = warm_window(recorded, first, len(submit) - first) if first < len(submit) else None
    if window is None or int(window.own.sum()) < LEAST_JOBS:
        raise TraceError(f"fewer than {LEAST_JOBS} jobs were submitted and ran: too few to compare")
    ours = replace(ours, backfill=slurm.backfill)  # Slurm starts the jobs, whatever their order
    # What Slurm is told is an order; what else the policy wishes is counted beside it.
    told = replace(ours, ordering=order_alone(ours.ordering))
    replay = WindowReplay(window, recorded.cluster, until)
    real = replay.waits_by(recorded.start[window.rows])
    replay = replay.paused_as(recorded, told if _mostly_active(recorded) else slurm)
    by_slurm, by_ours = replay.waits(slurm), replay.waits(told)
    by_whole = by_ours if told.ordering is ours.ordering else replay.waits(ours)
    own = window.own & np.isfinite(real) & np.isfinite(by_slurm) & np.isfinite(by_ours)
    moment = window.trace.jobs.submit[own]
    in_force = by_ours if _mostly_active(recorded) else by_slurm
    mean = max(1.0, float(real[own].mean()))
    run = window.trace.jobs.run[own]
    return Twin(
        since=max(since, float(moment.min())),  # the journal may have begun later
        until=float(moment.max()),
        jobs=int(own.sum()),
        recorded=float(real[own].mean()),
        slurm=float(by_slurm[own].mean()),
        ours=float(by_ours[own].mean()),
        difference=_blocked(moment, by_ours[own], by_slurm[own]),
        active=_mostly_active(recorded),
        error=abs(float(in_force[own].mean()) - float(real[own].mean())) / mean,
        median_error=float(np.median(np.abs(in_force[own] - real[own]))),
        groups=group_waits(window.trace.jobs, by_slurm, by_ours, rows=own),
        real_groups=group_waits(window.trace.jobs, by_slurm, real, rows=own),
        real_measures=live_measures(real[own], run),
        slurm_measures=live_measures(by_slurm[own], run),
        our_measures=live_measures(by_ours[own], run),
        whole_policy=float(by_whole[own].mean()),
        pause=replay.pause,
    )


def as_simulated(recorded: Schedule, until: float = math.inf) -> Schedule:
    """Only jobs that lay on nodes as the simulator would lay them: spread evenly, most first.

    A window starts from where jobs ran; Slurm may spread a job as 3 + 1, which has no row there.
    Jobs that had not started by `until` lay nowhere, and are kept.
    """
    keep, chunks = [], []
    for job in range(len(recorded.trace)):
        rows = range(int(recorded.chunk_offset[job]), int(recorded.chunk_offset[job + 1]))
        ordered = sorted(rows, key=lambda row: -int(recorded.chunk_gpus[row]).bit_count())
        sizes = [int(recorded.chunk_gpus[row]).bit_count() for row in ordered]
        waits = not sizes and recorded.start[job] >= until
        if waits or (sizes and sizes == _laid(recorded, job, int(recorded.chunk_node[ordered[0]]))):
            keep.append(job)
            chunks.append(ordered)
    if not keep:
        raise TraceError("of no job is it known where it ran: nothing to replay")
    rows_kept, at = np.array(keep), np.array([row for part in chunks for row in part], np.int64)
    return replace(
        recorded,
        trace=Trace(recorded.trace.jobs.take(rows_kept), recorded.trace.name),
        **{
            name: getattr(recorded, name)[rows_kept]
            for name in ("start", "end", "estimate", "backfilled", "rejected")
        },
        chunk_offset=np.cumsum([0, *map(len, chunks)]).astype(np.int64),
        chunk_node=recorded.chunk_node[at],
        chunk_gpus=recorded.chunk_gpus[at],
    )


def _laid(recorded: Schedule, job: int, node: int) -> list[int]:
    """GPUs per node as the simulator lays a job that begins on this node."""
    jobs = recorded.trace.jobs
    gpus, nodes = int(jobs.gpus[job]), int(jobs.nodes[job])
    if nodes:
        each, more = divmod(gpus, nodes)
        return [each + (i < more) for i in range(nodes)]
    whole = recorded.cluster.nodes[node].gpus
    return [whole] * (gpus // whole) + [gpus % whole] * (gpus % whole > 0)


@dataclass(frozen=True, slots=True)
class WindowReplay:
    """A window that is replayed under several orders, as far as the recording goes."""

    window: Window
    cluster: Cluster
    until: float
    pause: float = 0.0  # seconds for which GPUs stay idle after each job

    def waits(self, order: Order) -> Floats:
        return self.waits_by(self._schedule(order).start)

    def waits_by(self, start: Floats) -> Floats:
        """Waits as they stand at the end of the recording."""
        waits: Floats = np.minimum(start, self.until) - self.window.trace.jobs.submit
        return waits

    def paused_as(self, recorded: Schedule, order: Order) -> WindowReplay:
        """With pauses by which the replay of the order in force becomes like what was recorded."""
        here = pause_of(recorded, self.until)
        there = pause_of(self._schedule(order), self.until) if here > 0.0 else 0.0
        return replace(self, pause=max(0.0, here - there))

    def _schedule(self, order: Order) -> Schedule:
        jobs = self.window.trace.jobs
        limit = np.where(np.isnan(jobs.limit), NO_LIMIT, jobs.limit)
        slowed = replace(jobs, run=jobs.run + self.pause)
        return simulate_window(
            replace(self.window, trace=Trace(slowed, self.window.trace.name)),
            self.cluster,
            order.ordering,
            order.placement,
            order.backfill,
            Estimates("limit", limit + self.pause),
            HISTORY,
        )


def _blocked(moment: Floats, ours: Floats, slurm: Floats) -> Interval:
    """The interval over hours, not jobs, and the mean over jobs: jobs of one hour go together."""
    block = ((moment - moment.min()) // BLOCK).astype(np.int64)
    blocks, of_job = np.unique(block, return_inverse=True)
    count = np.bincount(of_job)
    # Weighting each block by its jobs keeps the mean that of all jobs.
    scale = count / count.mean()
    mean_ours = np.bincount(of_job, ours) / count * scale
    mean_slurm = np.bincount(of_job, slurm) / count * scale
    if len(blocks) < 2:
        value = float(ours.mean() - slurm.mean())
        return Interval(value, float("nan"), float("nan"), 0.95)
    return difference_of_means(mean_ours, mean_slurm)


def _mostly_active(recorded: Schedule) -> bool:
    return bool(recorded.config.get("active_share", 0.0) > 0.5)


def _number(settings: Mapping[str, str], name: str) -> float:
    # scontrol spells FairShare in two ways, by version.
    text = next((v for k, v in settings.items() if k.lower() == name.lower()), "0")
    return float(text) if text.isdecimal() else 0.0


def _seconds(settings: Mapping[str, str], name: str, default: float) -> float:
    """A duration that is set and not 0, as 0 would divide by it."""
    seconds = seconds_of(settings.get(name, ""))
    return seconds if seconds > 0 else default
