"""What is measured of a run, real or simulated, and how two of them differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.slurm_jobs import Observed, Work, trace_of
from benchmarks.slurm_site import cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.job_groups import SIZES, size_codes
from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import bounded_slowdown
from dovetail.domain.schedule import Schedule
from dovetail.live.twin.order import Order
from dovetail.live.twin.pauses import pause
from dovetail.prediction import HISTORY
from dovetail.simulator import simulate


def measures(seen: Observed, jobs: Sequence[Work]) -> dict[str, float]:
    """Seconds, and utilisation from the first submission to the last end."""
    run, wait = seen.end - seen.start, seen.wait
    makespan = float(seen.end.max() - seen.submit.min())
    busy = float(np.sum(run * [job.gpus for job in jobs]))
    return {
        "makespan": makespan,
        "wait_mean": float(wait.mean()),
        "wait_p50": float(np.median(wait)),
        "wait_p95": float(np.quantile(wait, 0.95)),
        "bsld_mean": float(bounded_slowdown(wait, run).mean()),
        "gpu_utilization": busy / (cluster().total_gpus * makespan),
        "gpu_utilization_while_jobs_came": _in_use_while_jobs_came(seen, jobs),
        **{f"wait_p95, {name}": value for name, value in tails(wait, jobs).items()},
    }


def _in_use_while_jobs_came(seen: Observed, jobs: Sequence[Work]) -> float:
    """From the first submission to the last: after it the wide jobs that are left run alone."""
    last = float(seen.submit.max())
    held = np.minimum(seen.end, last) - np.minimum(seen.start, last)
    span = cluster().total_gpus * (last - float(seen.submit.min()))
    return float(np.sum(held * [job.gpus for job in jobs])) / span if span > 0 else 0.0


def tails(wait: Floats, jobs: Sequence[Work]) -> dict[str, float]:
    """The 95th percentile of waits of each size class that there is."""
    codes = size_codes(np.array([job.gpus for job in jobs]))
    return {SIZES[code]: float(np.quantile(wait[codes == code], 0.95)) for code in np.unique(codes)}


def changes(after: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """Each measure's relative change."""
    return {name: after[name] / before[name] - 1.0 for name in before if before[name]}


def simulated(
    jobs: Sequence[Work], order: Order, seen: Observed | None = None, dead: float = 0.0
) -> Observed:
    """The simulator's run of the jobs as drawn, or as a real run had them; users' limits known.

    After each job its GPUs stay idle for `dead` seconds, which `dead_time` finds.
    """
    trace = trace_of(tuple(jobs), seen)
    busy = replace(trace, jobs=replace(trace.jobs, run=trace.jobs.run + dead))
    schedule = simulate(
        busy,
        cluster(),
        order.ordering,
        order.placement,
        order.backfill,
        Estimates("limit", trace.jobs.limit),
        HISTORY,
    )
    return observed(schedule, dead)


def observed(schedule: Schedule, dead: float = 0.0) -> Observed:
    """A simulated run as if it had been seen: rows by number again."""
    jobs = schedule.trace.jobs
    back = np.argsort(jobs.ids.astype(np.int64))
    return Observed(jobs.submit[back], schedule.start[back], schedule.end[back] - dead)


def dead_time(seen: Observed, nodes: Sequence[Sequence[str]]) -> float:
    """Seconds for which GPUs stay idle between jobs: a tenth of a second is ten of faster time."""
    return pause(seen.start, seen.end, seen.wait, nodes)


def twin_error(twin: Observed, real: Observed, jobs: Sequence[Work]) -> dict[str, float]:
    """How far the simulator is from the cluster: every measure, and single jobs' waits."""
    found = changes(measures(twin, jobs), measures(real, jobs))
    apart = np.abs(twin.wait - real.wait)
    return {**found, "wait_of_a_job_p50_seconds": float(np.median(apart))}


def least_makespan(jobs: Sequence[Work]) -> float:
    """No schedule ends sooner: all work on all GPUs, or the last job to end if none waited."""
    work = sum(job.gpus * job.run for job in jobs) / cluster().total_gpus
    return max(work, max(job.arrival + job.run for job in jobs))


def honesty(seen: Observed, jobs: Sequence[Work]) -> dict[str, Any]:
    """How much longer jobs ran and how much later they came than asked, in the cluster's time."""
    longer = (seen.end - seen.start) - np.array([job.run for job in jobs])
    later = seen.submit - np.array([job.arrival for job in jobs])
    return {
        "run_time_mean": float(np.mean([job.run for job in jobs])),
        "run_longer": _spread(longer),
        "submitted_later": _spread(later),
    }


def _spread(values: Floats) -> dict[str, float]:
    return {
        "median": float(np.median(values)),
        "p95": float(np.quantile(values, 0.95)),
        "most": float(values.max()),
    }
