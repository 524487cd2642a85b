"""What was recorded, replayed under Slurm's order and under ours, as waits of all jobs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import TraceError
from dovetail.domain.estimates import LIMIT, Estimates
from dovetail.domain.jobs import Bools, Floats, Jobs
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.live.cycle.queue_window import NO_LIMIT
from dovetail.live.twin.order import Order
from dovetail.live.twin.pauses import pause_of
from dovetail.policies.ordering.index import order_alone
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import half_believed
from dovetail.simulator import Window, simulate_window, warm_window

LEAST_JOBS = 10
"""Fewer say nothing."""


class TwinWaits(NamedTuple):
    """Seconds that each job waited, by the end of the recording at the latest."""

    jobs: Jobs
    own: Bools  # jobs that count: submitted within the time, and known under every order
    real: Floats  # as it was
    slurm: Floats  # by the twin, under Slurm's own order
    ours: Floats  # by the twin, under our policy's order
    whole: Floats  # by the twin, if Slurm followed all wishes of the policy
    active: bool  # most jobs started in active mode: our order was in force
    pause: float  # seconds that GPUs stay idle between jobs, beyond what the twin has itself


def twin_waits(
    recorded: Schedule, since: float, ours: Order, slurm: Order, until: float
) -> TwinWaits:
    """See `compare_with_twin`; TraceError where there is too little to compare."""
    recorded = as_simulated(recorded, until)
    submit = recorded.trace.jobs.submit
    first = int(np.searchsorted(submit, since))
    window = warm_window(recorded, first, len(submit) - first) if first < len(submit) else None
    if window is None or int(window.own.sum()) < LEAST_JOBS:
        raise TraceError(f"fewer than {LEAST_JOBS} jobs were submitted and ran: too few to compare")
    ours = replace(ours, backfill=slurm.backfill)  # Slurm starts the jobs, whatever their order
    # What Slurm is told is an order; what else the policy wishes is counted beside it.
    told = replace(ours, ordering=order_alone(ours.ordering))
    active = bool(recorded.config.get("active_share", 0.0) > 0.5)
    replay = WindowReplay(window, recorded.cluster, until)
    real = replay.waits_by(recorded.start[window.rows])
    replay = replay.paused_as(recorded, told if active else slurm)
    by_slurm, by_ours = replay.waits(slurm), replay.waits(told)
    by_whole = by_ours if told.ordering is ours.ordering else replay.waits(ours)
    own = window.own & np.isfinite(real) & np.isfinite(by_slurm) & np.isfinite(by_ours)
    own &= window.trace.jobs.gpus > 0  # others take room, and are left alone
    return TwinWaits(
        window.trace.jobs, own, real, by_slurm, by_ours, by_whole, active, replay.pause
    )


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
            half_believed(Estimates(LIMIT, limit + self.pause), order.limit_power),
            HISTORY,
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
    if not gpus:
        return [0] * max(1, nodes)
    if nodes:
        each, more = divmod(gpus, nodes)
        return [each + (i < more) for i in range(nodes)]
    whole = recorded.cluster.nodes[node].gpus
    return [whole] * (gpus // whole) + [gpus % whole] * (gpus % whole > 0)
