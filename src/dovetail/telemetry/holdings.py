"""Who holds which GPUs: from Slurm's running jobs, or from an exporter's own labels.

>>> from typing import NamedTuple
>>> class Job(NamedTuple):
...     label: str; user: str; hosts: tuple; host_gpus: tuple; gpus: int; start: float
>>> held_by_jobs([Job("17", "ada", ("n1", "n2"), (), 4, 0.0)])[1]
Holding(job='17', user='ada', host='n2', gpus=2, start=0.0, indices=())
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from dovetail.telemetry.readings import Readings


class Holding(NamedTuple):
    """GPUs of one node that Slurm has given to a job."""

    job: str
    user: str
    host: str
    gpus: int
    start: float  # seconds since 1970; NaN: not known
    indices: tuple[str, ...] = ()  # which of them (GpuName.slot); empty: not known


class RunningJob(Protocol):
    """What is needed of a job of a live snapshot."""

    @property
    def label(self) -> str: ...
    @property
    def user(self) -> str: ...
    @property
    def hosts(self) -> Sequence[str]: ...
    @property
    def host_gpus(self) -> Sequence[int]: ...
    @property
    def gpus(self) -> int: ...
    @property
    def start(self) -> float: ...


def held_by_jobs(jobs: Iterable[RunningJob]) -> list[Holding]:
    """Of running jobs; GPUs are spread evenly where Slurm does not say how many lie where."""
    found = []
    for job in jobs:
        if job.gpus <= 0 or not job.hosts:
            continue
        each = list(job.host_gpus)
        if len(each) != len(job.hosts):
            less, more = divmod(job.gpus, len(job.hosts))
            each = [less + (place < more) for place in range(len(job.hosts))]
        for host, gpus in zip(job.hosts, each, strict=True):
            if gpus:
                found.append(Holding(job.label, job.user, host, gpus, job.start))
    return found


def held_by_labels(readings: Readings) -> list[Holding]:
    """Where the exporter itself says so (`hpc_job`, `nvidia_gpu_jobId`)."""
    found: dict[tuple[str, str], list[str]] = {}
    for gpu, labels in zip(readings.gpus, readings.labels, strict=True):
        if labels.job:
            found.setdefault((labels.job, gpu.host), []).append(gpu.slot)
    return [
        Holding(job, "", host, len(slots), math.nan, tuple(slots))
        for (job, host), slots in found.items()
    ]


def name_users(held: Iterable[Holding], jobs: Iterable[RunningJob]) -> list[Holding]:
    """Holdings by labels, with users and starts that Slurm knows."""
    known = {job.label: job for job in jobs}
    return [
        part._replace(user=known[part.job].user, start=known[part.job].start)
        if part.job in known
        else part
        for part in held
    ]
