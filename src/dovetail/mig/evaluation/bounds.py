"""What no schedule on sliced GPUs can beat, however the GPUs are cut: energy and tardiness.

Notation: on s slices of type k job j takes t(j, k, s) seconds, so that its area is s·t; P_k(b) is
what a GPU of that type draws with b slices busy.

Energy. Let c_k = min over b of (P_k(b) − P_k(0)) / b: every GPU draws at least P_k(0) + c_k·b, for
a concave curve with b at all its slices. The area that a job covers, weighted with c, is at least
its least c_k·s·t, in pieces too. And every GPU draws P_k(0) from the first submission to the last
end, which is no earlier than

    C* = max(r + shortest t over jobs, r + (least areas released from r on) / slices over moments).

Without preemption or with it: E >= (C* − first r)·Σ P(0) + Σ_j min c_k·s·t. With one type and
linear jobs this is the energy of a preemptive schedule of least makespan on whole GPUs.

Tardiness. Pool the compute slices of all GPUs, let them have a price by the moment, and let every
job choose alone when it starts and on which slice (see `prices`); this holds for schedules without
preemption. In minutes, as the mean over the jobs that can run at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.domain.jobs import Floats, Ints
from dovetail.evaluation.bounds.prices import Claims, least_cost
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.metrics import MINUTE
from dovetail.mig.workload.jobs import MigWorkload


@dataclass(frozen=True, slots=True)
class MigBounds:
    """No schedule that ends all jobs that can run has less."""

    energy_joules: float
    tardiness_mean: float  # minutes
    makespan: float  # seconds from the first submission


@dataclass(frozen=True, slots=True)
class _Options:
    """Jobs x slices that they could have: a column per type and profile."""

    time: Floats  # [jobs, columns] seconds; inf: does not fit
    size: Ints  # [columns]
    joules: Floats  # [columns] per compute slice and second, at least
    able: Ints  # jobs that can run at all


def mig_bounds(workload: MigWorkload, cluster: MigCluster) -> MigBounds:
    """Bounds over all placements and all ways of cutting these GPUs."""
    options = _options(workload, cluster)
    submit = workload.trace.jobs.submit
    time = options.time[options.able]
    if len(time) == 0:
        return MigBounds(0.0, 0.0, 0.0)
    release = submit[options.able] - submit[0]
    area = (time * options.size).min(axis=1)
    # By backward sums: what is released from each moment on must still be done.
    later = np.cumsum(area[::-1])[::-1] / cluster.compute
    makespan = float(max(np.max(release + time.min(axis=1)), np.max(release + later)))
    active = float((time * options.size * options.joules).min(axis=1).sum())
    idle = sum(kind.watts[0] for kind in cluster.models)
    deadline = workload.deadline[options.able] - submit[0]
    late = least_cost(_claims(release, time, options.size, deadline), cluster.compute, makespan)
    mean = max(0.0, late) / len(time) / MINUTE
    return MigBounds(makespan * idle + active, mean, makespan)


def _options(workload: MigWorkload, cluster: MigCluster) -> _Options:
    columns, sizes, joules = [], [], []
    for kind in cluster.kinds:
        profiles = {part for way in kind.configurations for part in way.slices}
        for part in sorted(profiles, key=lambda part: (part.compute, part.memory_gb)):
            fits = workload.trace.jobs.memory <= part.memory_gb
            columns.append(np.where(fits, workload.times[:, part.compute], np.inf) / kind.speed)
            sizes.append(part.compute)
            joules.append(_least_slope(kind))
    time = np.column_stack(columns)
    able = np.flatnonzero(np.isfinite(time).any(axis=1))
    return _Options(time, np.array(sizes), np.array(joules), able)


def _least_slope(kind: GpuModel) -> float:
    """Watts per busy slice above idle, at least."""
    return min((watts - kind.watts[0]) / b for b, watts in enumerate(kind.watts) if b > 0)


def _claims(release: Floats, time: Floats, size: Ints, deadline: Floats) -> Claims:
    """A row for each job and slice that it fits; a deadline that no start can meet costs extra."""
    job, column = np.nonzero(np.isfinite(time))
    run = time[job, column]
    slack = np.minimum(deadline[job] - release[job] - run, 1e12)
    return Claims(
        release=release[job],
        run=run,
        gpus=size[column].astype(np.float64),
        weight=np.ones(len(job)),
        grace=np.maximum(0.0, slack),
        extra=np.maximum(0.0, -slack),
        job=job,
    )
