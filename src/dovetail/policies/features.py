"""What a learned policy sees of a waiting job: numbers, each with formula and range.

The visible facts of a job, three characteristics of the cluster, and five engineered features:

| feature              | formula                                                       | range   |
|----------------------|---------------------------------------------------------------|---------|
| place_in_queue       | wait / (wait + time since the first job + 1 s)                | 0 to 1  |
| user_share           | GPUs that its account uses now / GPUs of the cluster          | 0 to 1  |
| requested_gpus       | log(GPUs) / log(1 + GPUs of the cluster)                      | 0 to 1  |
| partition            | the partition's priority factor                               | 0 to 1  |
| gpu_type             | GPUs that it may use / GPUs of the cluster                    | 0 to 1  |
| requested_time       | log(estimate) / log(30 days), at most 1                       | 0 to 1  |
| submit_time          | wait / (wait + 1 h)                                           | 0 to 1  |
| requested_cpus       | CPUs per GPU / (CPUs per GPU + 8)                             | 0 to 1  |
| requested_memory     | GB per GPU / (GB per GPU + 64)                                | 0 to 1  |
| free_nodes           | idle nodes / nodes that it may use                            | 0 to 1  |
| can_schedule_now     | 1 if it could start now                                       | 0 or 1  |
| ways_to_schedule     | kinds of nodes by free GPUs that could host it, of 4 at most  | 0 to 1  |
| demand_supply_ratio  | GPUs / (GPUs + free GPUs that it may use)                     | 0 to 1  |
| job_size             | log(GPUs x estimate) / log((1 + GPUs of the cluster) x 30 d)  | 0 to 1  |
| urgency              | wait / (wait + estimate)                                      | 0 to 1  |
| future_availability  | (free - own - queued GPUs) / GPUs that it may use, clipped    | -1 to 1 |
| fragmentation        | 1 - sum of (free GPUs² / GPUs) over nodes / free GPUs          | 0 to 1  |

Five more say how sure its prediction is, and when GPUs in use come free; networks of before do not
know of them (FORECAST_FEATURES). Without a distribution the first three are 0:

| feature              | formula                                                       | range   |
|----------------------|---------------------------------------------------------------|---------|
| spread               | s / (s + 1), s = half of log(90th / 10th percentile)          | 0 to 1  |
| skew                 | s / (1 + s without sign), s = log(mean / log-mean)            | -1 to 1 |
| margin               | the same of log(80th percentile / log-mean)                   | -1 to 1 |
| held                 | log(1 + seconds / 1 h) / log(1 + 30 days / 1 h), at most 1    | 0 to 1  |
| free_in              | the same of the seconds until GPUs in use come free           | 0 to 1  |
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Ints
from dovetail.domain.policy import (
    AccountRows,
    ClusterRow,
    DemandFacts,
    DemandRows,
    JobFacts,
    JobRows,
)

FEATURES = (
    "place_in_queue",
    "user_share",
    "requested_gpus",
    "partition",
    "gpu_type",
    "requested_time",
    "submit_time",
    "requested_cpus",
    "requested_memory",
    "free_nodes",
    "can_schedule_now",
    "ways_to_schedule",
    "demand_supply_ratio",
    "job_size",
    "urgency",
    "future_availability",
    "fragmentation",
)
FORECAST_FEATURES = ("spread", "skew", "margin", "held", "free_in")
EVERY_FEATURE = FEATURES + FORECAST_FEATURES
Matrix = NDArray[np.float64]

HOUR = 3600.0
MONTH = 30 * 86_400.0
"""Seconds: estimates beyond it count as this long."""


@kernel
def describe_jobs(
    jobs: JobRows,
    accounts: AccountRows,
    demands: DemandRows,
    cluster: ClusterRow,
    rows: Ints,
    out: Matrix,
) -> None:
    """Write the features of some jobs into the columns of `out` [features, jobs].

    Jobs lie side by side, so that a network's inner loops run over jobs and vectorise. Logarithms
    of a job are facts taken once, not here.
    """
    site = cluster[0]
    log_total, log_month = math.log(site.total_gpus + 1.0), math.log(MONTH)
    for i in range(len(rows)):
        job = jobs[rows[i]]
        part = demands[job.demand]
        wait = site.now - job.submit
        out[0, i] = wait / (wait + site.now - site.origin + 1.0)
        out[1, i] = accounts[job.account].gpus / site.total_gpus
        out[3, i] = job.partition_factor
        out[4, i] = part.total_gpus / site.total_gpus
        out[7, i] = job.cpus_per_gpu / (job.cpus_per_gpu + 8.0)
        out[8, i] = job.memory_per_gpu / (job.memory_per_gpu + 64.0)
        out[16, i] = site.fragmentation
        (
            out[2, i], out[5, i], out[6, i], out[9, i], out[10, i],
            out[11, i], out[12, i], out[13, i], out[14, i], out[15, i],
        ) = usual_features(job, part, site.now, log_total, log_month)  # fmt: skip


@inner
def usual_features(
    job: JobFacts, part: DemandFacts, now: float, log_total: float, log_month: float
) -> tuple[float, ...]:
    """All that `sampled` (see policies.selections) may show of a job, in the order of FEATURES.

    Of a job's facts it reads what stands together in memory.
    """
    gpus, time, size = lasting_features(job.log_gpus, job.log_estimate, log_total, log_month)
    nodes, fits, ways, future = demand_features(part)
    submit, supply, urgency = passing_features(job, part.free_gpus, now)
    return gpus, time, submit, nodes, fits, ways, supply, size, urgency, future


@inner
def lasting_features(
    log_gpus: float, log_estimate: float, log_total: float, log_month: float
) -> tuple[float, float, float]:
    """What stays as it is as long as a job waits: requested_gpus, requested_time, job_size."""
    log_estimate = min(log_estimate, log_month)
    return (
        log_gpus / log_total,
        log_estimate / log_month,
        (log_gpus + log_estimate) / (log_total + log_month),
    )


@inner
def demand_features(part: DemandFacts) -> tuple[float, float, float, float]:
    """What jobs of a demand share: free_nodes, can_schedule_now, ways_to_schedule, and
    future_availability."""
    left = part.free_gpus - part.queued_gpus  # its own request is among the queued ones
    return (
        part.idle_nodes / part.total_nodes,
        1.0 if part.fits else 0.0,
        min(part.ways, 4.0) / 4.0,
        max(-1.0, min(1.0, left / part.total_gpus)),
    )


@inner
def passing_features(job: Any, free_gpus: float, now: float) -> tuple[float, float, float]:
    """What changes with time, job by job: submit_time, demand_supply_ratio, urgency."""
    wait = now - job.submit
    return (
        wait / (wait + 3600.0),
        job.size / (job.size + free_gpus),
        wait / (wait + job.estimate),
    )


@kernel
def describe_forecasts(jobs: JobRows, cluster: ClusterRow, rows: Ints, out: Matrix) -> None:
    """Write FORECAST_FEATURES of some jobs into the columns of `out`, below FEATURES."""
    site, first = cluster[0], len(FEATURES)
    log_month = math.log(1.0 + MONTH / HOUR)
    held = min(1.0, math.log(1.0 + site.held / HOUR) / log_month)
    free_in = min(1.0, math.log(1.0 + site.free_in / HOUR) / log_month)
    for i in range(len(rows)):
        job = jobs[rows[i]]
        out[first, i] = job.spread / (job.spread + 1.0)
        out[first + 1, i] = job.skew / (abs(job.skew) + 1.0)
        out[first + 2, i] = job.margin / (abs(job.margin) + 1.0)
        out[first + 3, i] = held
        out[first + 4, i] = free_in
