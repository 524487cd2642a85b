"""The result on sliced GPUs: when and where every job ran, and what it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.domain.trace import Trace
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.workload.jobs import MigWorkload


@dataclass(frozen=True)
class MigSchedule:
    """One row per job; of a job that was preempted, the first start and the last place."""

    workload: MigWorkload
    cluster: MigCluster
    start: Floats  # [jobs] seconds; NaN: never ran
    end: Floats  # [jobs] seconds; NaN: never ended
    gpu: Ints  # [jobs] -1: never ran
    size: Ints  # [jobs] compute slices of the instance
    offset: Ints  # [jobs] memory slices of the device below the instance
    energy: Floats  # [GPUs] joules, from the first submission to the last event
    work: Floats  # [GPUs] compute slices x seconds in use
    span: float  # seconds from the first submission to the last event
    repartitions: int
    preemptions: int
    events: int
    sim_seconds: float = 0.0
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def trace(self) -> Trace:
        return self.workload.trace

    @property
    def ran(self) -> Bools:
        ran: Bools = ~np.isnan(self.end)
        return ran

    @property
    def wait(self) -> Floats:
        """Seconds from submission to the first start; NaN for jobs that never ran."""
        return self.start - self.trace.jobs.submit

    @property
    def tardiness(self) -> Floats:
        """Seconds after the deadline, 0 for jobs on time; NaN for jobs that never ended."""
        return np.where(self.ran, np.maximum(0.0, self.end - self.workload.deadline), np.nan)
