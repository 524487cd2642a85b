"""Jobs that run or wait when the twin looks: without them it would replay a lighter load.

A policy that lets short jobs go first leaves the long ones running or waiting. A twin of ended jobs
alone then knows a cluster that is nearly empty: it once said 10.6 minutes for Slurm alone where a
real Slurm beside it took 21.

>>> usual = UsualRun(share=0.5, seconds=600.0)
>>> usual.of(limit=3600.0), usual.of(limit=3600.0, elapsed=1500.0), usual.of(limit=math.nan)
(1800.0, 3000.0, 600.0)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from dovetail.domain.jobs import TEN_YEARS
from dovetail.live.guardrails.starvation import NOT_ITS_TURN
from dovetail.live.journal.records import EndedRun, RecordedRun
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import LiveJob

UNFINISHED = "UNFINISHED"
"""Stands where an ended run has Slurm's word for how it ended."""

HALFWAY = 2.0
"""A job that is seen to run is half-way through, in the mean."""


class UsualRun(NamedTuple):
    """How long jobs ran that have ended: of their limits, and in seconds."""

    share: float = 1.0
    seconds: float = 3600.0

    @classmethod
    def of_ended(cls, ended: Iterable[EndedRun]) -> Self:
        runs = [(each.end - each.run.start, each.run.limit) for each in ended]
        runs = [(run, limit) for run, limit in runs if 0.0 <= run <= TEN_YEARS]
        limited = [(run, limit) for run, limit in runs if 0.0 < limit <= TEN_YEARS]
        usual = cls()
        if runs:
            usual = usual._replace(seconds=math.fsum(run for run, _ in runs) / len(runs))
        if limited:
            asked = math.fsum(limit for _, limit in limited)
            usual = usual._replace(share=math.fsum(run for run, _ in limited) / asked)
        return usual

    def of(self, limit: float, elapsed: float = 0.0) -> float:
        """What a job will take, as far as anybody knows; at least what it has taken."""
        known = 0.0 < limit <= TEN_YEARS
        expected = max(self.share * limit if known else self.seconds, HALFWAY * elapsed)
        return max(elapsed, min(expected, limit) if known else expected)


def unfinished_runs(
    usual: UsualRun,
    running: Sequence[RecordedRun],
    waiting: Sequence[LiveJob],
    now: float,
    mode: Mode,
) -> list[EndedRun]:
    """Running jobs with an expected end; waiting ones as if they started now, at the earliest."""
    ends = [
        EndedRun(run, run.start + usual.of(run.limit, max(0.0, now - run.start)), UNFINISHED)
        for run in running
        if run.start <= now
    ]
    return ends + [
        EndedRun(run, now + usual.of(job.limit), UNFINISHED)
        for job in waiting
        if not job.held and not job.reason.startswith(NOT_ITS_TURN)
        for run in [_from_now(job, now, mode)] * job.tasks
    ]


def _from_now(job: LiveJob, now: float, mode: Mode) -> RecordedRun:
    return RecordedRun(
        job=job.id,
        label=job.label,
        user=job.user,
        account=job.account,
        partition=job.partitions[0] if job.partitions else "",
        qos=job.qos,
        submit=min(job.submit, now),
        eligible=job.eligible if job.eligible <= now else math.nan,
        start=now,
        limit=job.limit,
        gpus=job.gpus,
        gpu_type=job.gpu_type,
        nodes=job.nodes,
        cpus=job.cpus,
        memory_gb=job.memory_gb,
        hosts=(),
        host_gpus=(),
        array=job.array,
        mode=mode.value,
        name=job.name,
    )
