"""The digital twin: the simulator on what really happened, under Slurm's order and under ours.

Both run on the same jobs from the same state, and as far as the recording goes: a job that had not
started by then counts with what it had waited, there and here. That the twin's Slurm differs from
the real one is why it is compared with what was recorded, too: a difference smaller than that says
little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dovetail.domain.group_waits import GroupWaits, group_waits
from dovetail.domain.jobs import Floats
from dovetail.domain.schedule import Schedule
from dovetail.evaluation.statistics import Interval, difference_of_means
from dovetail.live.twin.order import Order
from dovetail.live.twin.replay import TwinWaits, twin_waits
from dovetail.live.twin.wanted import live_measures

BLOCK = 3600.0
"""Seconds of submissions that are drawn together: jobs of one hour share one queue."""


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


def compare_with_twin(
    recorded: Schedule, since: float, ours: Order, slurm: Order, until: float = math.inf
) -> Twin:
    """Replay the jobs submitted since then, from the state of that moment, under both orders.

    `until`: when the recording ends; jobs that start then in it had not started yet.
    """
    return summarised(twin_waits(recorded, since, ours, slurm, until), since)


def summarised(waits: TwinWaits, since: float) -> Twin:
    """The waits of all jobs in a few figures."""
    own, jobs, real, slurm, ours = waits.own, waits.jobs, waits.real, waits.slurm, waits.ours
    moment, run = jobs.submit[own], jobs.run[own]
    in_force = ours if waits.active else slurm
    mean = float(real[own].mean())
    return Twin(
        since=max(since, float(moment.min())),  # the journal may have begun later
        until=float(moment.max()),
        jobs=int(own.sum()),
        recorded=mean,
        slurm=float(slurm[own].mean()),
        ours=float(ours[own].mean()),
        difference=_blocked(moment, ours[own], slurm[own]),
        active=waits.active,
        error=abs(float(in_force[own].mean()) - mean) / max(1.0, mean),
        median_error=float(np.median(np.abs(in_force[own] - real[own]))),
        groups=group_waits(jobs, slurm, ours, rows=own),
        real_measures=live_measures(real[own], run),
        slurm_measures=live_measures(slurm[own], run),
        our_measures=live_measures(ours[own], run),
        whole_policy=float(waits.whole[own].mean()),
        pause=waits.pause,
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
