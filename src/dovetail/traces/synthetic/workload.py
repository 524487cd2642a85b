"""What a workload is: anything that can draw jobs, to which the clock is then set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dovetail.domain.jobs import Floats, Ints, Names
from dovetail.traces.synthetic.rhythm import DAY, Rhythm
from dovetail.traces.synthetic.streams import Streams

LONGEST_RUN = 60 * DAY - 1
"""Philly's longest job is 60 days; no workload draws longer ones."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Drawn jobs in order of arrival, before the clock is set; every column has n rows."""

    due: Floats  # busy seconds since the first job, ascending
    run: Floats  # seconds
    gpus: Ints
    limit: Floats | None = None  # seconds
    cpus: Floats | None = None
    memory: Floats | None = None  # GB
    user: Names | None = None
    partition: Names | None = None
    kind: Names | None = None


class Workload(Protocol):
    """A seeded source of jobs."""

    @property
    def name(self) -> str: ...

    @property
    def cluster_gpus(self) -> int:
        """GPUs of the cluster that the workload describes."""

    @property
    def rhythm(self) -> Rhythm:
        """When in the week its jobs arrive."""

    def draw(self, jobs: int, streams: Streams, largest: int) -> Draft:
        """This many jobs, none of which asks for more than `largest` GPUs."""
