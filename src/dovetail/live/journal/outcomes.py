"""When jobs started and ended, from successive readings of the queue.

Slurm forgets ended jobs after MinJobAge; a job that is gone by the next reading ended, as far as
anybody knows, when it was last seen. Each task of an array that Slurm splits off has a number of
its own, and so a record of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from dovetail.live.journal.reader import JournalReader
from dovetail.live.journal.records import GONE, REQUEUED, Ended, Happened, RecordedRun
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import NEVER, LiveJob, Snapshot


class Outcomes:
    """Remembers who runs and who waits; no more than the queue itself holds."""

    def __init__(
        self, running: Iterable[RecordedRun] = (), waiting: Iterable[int] = (), last: float = NEVER
    ) -> None:
        self._running: Mapping[int, RecordedRun] = {run.job: run for run in running}
        self._waiting = frozenset(waiting)
        self._ended: frozenset[int] = frozenset()  # still shown by Slurm, already told
        self._last = last  # time of the reading before
        self._looked = False  # this daemon has read the queue before
        self._mode = ""
        self._ranks: Mapping[int, int] = {}

    @classmethod
    def resume(cls, past: JournalReader) -> Outcomes:
        """Go on where a daemon before left off: some that it knew may be gone by now."""
        running = past.unended()
        others = set(past.touched()) - {run.job for run in running}
        return cls(running, others, past.last_wall())

    def decided(self, mode: Mode, order: Sequence[int]) -> None:
        """Under what mode and order jobs will start until this is called again."""
        self._mode = mode.value
        self._ranks = dict(zip(order, range(len(order)), strict=True))

    def update(self, snapshot: Snapshot) -> Happened:
        """What became of jobs since the last reading."""
        last = snapshot.time if math.isnan(self._last) else self._last
        started: list[RecordedRun] = []
        ended: list[Ended] = []
        running: dict[int, RecordedRun] = {}
        done: set[int] = set()
        ran = self._running
        # Most wait and never ran.
        requeued = [snapshot.by_id[number] for number in sorted(ran.keys() & snapshot.pending_ids)]
        for job in (*snapshot.others, *requeued):
            known = ran.get(job.id)
            if known is not None and (job.pending or job.restarts > known.restarts):
                ended.append(Ended(job.id, known.start, max(known.start, last), REQUEUED))
                known = None
            if job.running:
                running[job.id] = known or self._run(job, snapshot.time)
                if known is None:
                    started.append(running[job.id])
            elif not job.pending:
                done.add(job.id)
                if job.id not in self._ended:
                    self._note_end(job, known, last, started, ended)
        self._note_vanished(snapshot, last, ended)
        self._running, self._last, self._looked = running, snapshot.time, True
        self._waiting = snapshot.pending_ids
        self._ended = frozenset(done)
        return Happened(tuple(started), tuple(ended))

    def _note_end(
        self,
        job: LiveJob,
        known: RecordedRun | None,
        last: float,
        started: list[RecordedRun],
        ended: list[Ended],
    ) -> None:
        """A job that Slurm still shows, though it has ended."""
        end = last if math.isnan(job.end) else job.end
        if known is None and job.id not in self._waiting and not self._looked:
            return  # a daemon before this one may have told it
        if known is None and not math.isnan(job.start) and job.hosts:
            known = self._run(job, end)  # it came and went between two readings
            started.append(known)
        start = NEVER if known is None else known.start
        ended.append(Ended(job.id, start, end if known is None else max(start, end), job.state))

    def _note_vanished(self, snapshot: Snapshot, last: float, ended: list[Ended]) -> None:
        for job, run in self._running.items():
            if job not in snapshot.by_id:
                ended.append(Ended(job, run.start, max(run.start, last), GONE))
        ended.extend(
            Ended(job, NEVER, last, GONE) for job in sorted(self._waiting - snapshot.by_id.keys())
        )

    def _run(self, job: LiveJob, now: float) -> RecordedRun:
        rank = self._ranks.get(job.id, self._ranks.get(job.array, -1) if job.array else -1)
        return RecordedRun(
            job=job.id,
            label=job.label,
            user=job.user,
            account=job.account,
            partition=job.partitions[0] if job.partitions else "",
            qos=job.qos,
            submit=job.submit,
            eligible=job.eligible,
            start=now if math.isnan(job.start) else job.start,
            limit=job.limit,
            gpus=job.gpus,
            gpu_type=job.gpu_type,
            nodes=job.nodes,
            cpus=job.cpus,
            memory_gb=job.memory_gb,
            hosts=job.hosts,
            host_gpus=job.host_gpus,
            array=job.array,
            restarts=job.restarts,
            mode=self._mode,
            rank=rank,
            name=job.name,
        )
