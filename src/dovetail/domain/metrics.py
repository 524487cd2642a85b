"""Measures of a schedule, each a pure function of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.domain.jobs import UNKNOWN, Floats, Ints
from dovetail.domain.schedule import Schedule

SHORT = 10.0
"""Seconds: shorter jobs count as this long in the bounded slowdown."""


def bounded_slowdown(wait: Floats, run: Floats) -> Floats:
    """max(1, (wait + run) / max(run, 10 s)), per job."""
    slowdown: Floats = np.maximum(1.0, (wait + run) / np.maximum(run, SHORT))
    return slowdown


def jain_index(values: Floats) -> float:
    """(Σx)² / (n · Σx²): 1 when all are equal, 1/n when one has everything."""
    squares = float(np.sum(values * values))
    return float(np.sum(values)) ** 2 / (len(values) * squares) if squares > 0 else 1.0


def fairness(slowdown: Floats, owner: Ints) -> float:
    """Jain's index over the mean bounded slowdown of each owner."""
    if len(owner) == 0:
        return 1.0
    shifted = owner - UNKNOWN  # unknown owners are one owner of their own
    counts = np.bincount(shifted)
    means = np.bincount(shifted, weights=slowdown)[counts > 0] / counts[counts > 0]
    return jain_index(means)


def summary(schedule: Schedule) -> dict[str, Any]:
    """The stable keys of `dovetail simulate --json`. Rejected jobs count as unfinished only."""
    jobs, ran = schedule.trace.jobs, schedule.ran
    wait, run = schedule.wait[ran], schedule.run[ran]
    if len(wait) == 0:
        wait = run = np.full(1, np.nan)
    slowdown = bounded_slowdown(wait, run)
    ended = schedule.end[ran]
    makespan = float(ended.max() - jobs.submit[0]) if len(ended) else 0.0
    busy = float(np.sum(jobs.gpus[ran] * run)) if len(ended) else 0.0
    busy_cpus = float(np.sum(jobs.cpus[ran] * run)) if len(ended) else 0.0
    known = bool(np.any(jobs.user.codes != UNKNOWN))
    owner = (jobs.user if known else jobs.partition).codes[ran]
    return {
        "jobs": len(jobs),
        "wait_mean": float(np.mean(wait)),
        "wait_p50": float(np.percentile(wait, 50)),
        "wait_p95": float(np.percentile(wait, 95)),
        "wait_p99": float(np.percentile(wait, 99)),
        "jct_mean": float(np.mean(wait + run)),
        "bsld_mean": float(np.mean(slowdown)),
        "bsld_p95": float(np.percentile(slowdown, 95)),
        "gpu_utilization": _share(busy, schedule.cluster.total_gpus * makespan),
        "cpu_utilization": _share(busy_cpus, schedule.cluster.known_cpus * makespan),
        "throughput_jobs_per_hour": len(ended) / (makespan / 3600) if makespan else 0.0,
        "makespan": makespan,
        "fragmentation_mean": schedule.fragmentation,
        "backfilled": int(np.count_nonzero(schedule.backfilled)),
        "fairness_jain_users": fairness(slowdown, owner) if len(ended) else 1.0,
        "restarts": int(schedule.restart_counts.sum()),
        "unfinished": int(np.count_nonzero(~ran)),
        "events": schedule.events,
        "sim_seconds": schedule.sim_seconds,
        "config": dict(schedule.config),
    }


def _share(part: float, whole: float) -> float:
    """0 where there is nothing to have a share of."""
    return part / whole if whole else 0.0
