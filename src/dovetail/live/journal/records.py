"""What is written to the journal and read back from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from dovetail.live.model.mode import Mode

GONE = "GONE"
"""How a run ended that was not seen to end: Slurm had forgotten the job by the next reading."""

REQUEUED = "REQUEUED"
"""How a run ended whose job waits or runs again."""


@dataclass(frozen=True, slots=True)
class CycleRecord:
    """One round of the daemon: observe, decide, guard, act."""

    wall: float  # seconds since 1970
    steady: float  # seconds of a clock that nobody sets
    mode: Mode
    sentence: str  # what happened, for people
    policy: str = ""
    model: str = ""  # digest of the weights
    snapshot: str = ""  # digest, see `digest_of`
    pending: int = 0
    running: int = 0
    sent: int = 0  # changes
    failed: int = 0  # of these
    read_seconds: float = 0.0
    decide_seconds: float = 0.0
    act_seconds: float = 0.0


class RecordedRun(NamedTuple):
    """A job that was seen to run: one stay on its nodes, not the whole life of a requeued job."""

    job: int
    label: str
    user: str
    account: str
    partition: str
    qos: str
    submit: float
    eligible: float
    start: float
    limit: float
    gpus: int
    gpu_type: str
    nodes: int
    cpus: float
    memory_gb: float
    hosts: tuple[str, ...]
    host_gpus: tuple[int, ...]
    array: int = 0  # number of the array that it is a task of; 0: none
    restarts: int = 0
    mode: str = ""  # the daemon's when it started; empty: the daemon was not there
    rank: int = -1  # its place in our order, 0 first; -1: none
    name: str = ""  # of the job, as its user calls it; empty: not known

    @property
    def queued(self) -> float:
        """When it could have started first: as `dovetail trace import` counts, too."""
        return self.submit if math.isnan(self.eligible) else max(self.submit, self.eligible)

    @property
    def wait(self) -> float:
        return self.start - self.queued


class EndedRun(NamedTuple):
    """A run and how it ended."""

    run: RecordedRun
    end: float
    state: str  # Slurm's word, GONE or REQUEUED


class Ended(NamedTuple):
    """The end of a job that ran, or that left the queue without running (start is NaN)."""

    job: int
    start: float
    end: float
    state: str

    @property
    def left(self) -> bool:
        """Whether Slurm has done with the job: there is nothing left to set back."""
        return self.state != REQUEUED


class Happened(NamedTuple):
    """What became of jobs between two readings."""

    started: tuple[RecordedRun, ...] = ()
    ended: tuple[Ended, ...] = ()


NOTHING_HAPPENED = Happened()
