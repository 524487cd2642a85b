"""The result of a simulation: when and where every job ran, and which were rejected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.cluster import Cluster
from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.domain.trace import Trace

RAN = 0
"""`Schedule.rejected` of a job that ran; other values index `Schedule.reasons`."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One row per job of the trace; chunks (one per node used) in a flat table beside it."""

    trace: Trace
    cluster: Cluster
    start: Floats  # [jobs] seconds; NaN: rejected
    end: Floats  # [jobs] seconds; NaN: rejected
    estimate: Floats  # [jobs] seconds, as the policy saw it on arrival
    backfilled: Bools  # [jobs]
    rejected: Ints  # [jobs] RAN, or index into reasons
    reasons: tuple[str, ...]  # reasons[RAN] is ""
    chunk_offset: Ints  # [jobs + 1] chunks of job j are chunk_offset[j]:chunk_offset[j + 1]
    chunk_node: Ints  # [chunks]
    chunk_gpus: NDArray[np.uint64]  # [chunks] bit g: GPU number g of the node
    events: int
    fragmentation: float  # time-weighted mean share of free GPUs on partly used nodes
    sim_seconds: float = 0.0  # wall time; not part of equality of results
    config: Mapping[str, Any] = field(default_factory=dict)
    eligible: Floats | None = None  # [jobs] when it could first run; None: as the trace says
    restarts: Ints | None = None  # [jobs] how often its nodes failed under it; None: never

    @property
    def ran(self) -> Bools:
        ran: Bools = self.rejected == RAN
        return ran

    @property
    def wait(self) -> Floats:
        """Seconds from submission, or from when it was eligible, to start; NaN: it never ran."""
        return self.start - self.since

    @property
    def since(self) -> Floats:
        """From when on each job has waited."""
        return self.trace.jobs.submit if self.eligible is None else self.eligible

    @property
    def restart_counts(self) -> Ints:
        """How often each job began again, as a node failed under it."""
        return np.zeros(len(self.start), np.int64) if self.restarts is None else self.restarts

    @property
    def run(self) -> Floats:
        """Seconds from start to end, on the GPUs that it got."""
        return self.end - self.start

    def where(self, job: int) -> list[tuple[str, list[int]]]:
        """Node names and GPU numbers of one job, in the order in which they were chosen."""
        rows = range(int(self.chunk_offset[job]), int(self.chunk_offset[job + 1]))
        return [
            (self.cluster.nodes[self.chunk_node[row]].name, _bits(int(self.chunk_gpus[row])))
            for row in rows
        ]

    def rejections(self) -> dict[str, int]:
        """How many jobs were rejected for each reason."""
        codes, counts = np.unique(self.rejected[~self.ran], return_counts=True)
        return {
            self.reasons[code]: count
            for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
        }


def _bits(word: int) -> list[int]:
    return [bit for bit in range(word.bit_length()) if word >> bit & 1]
