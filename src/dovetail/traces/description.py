"""What a trace looks like, in the numbers that decide which scheduler suits it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.domain.jobs import Bools, Jobs, Names
from dovetail.domain.trace import Trace

_PERCENTILES = (5, 25, 50, 75, 95, 99)
_SIZES = ((0, 0), (1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 64), (65, None))


def describe(trace: Trace) -> dict[str, Any]:
    """Counts, shares and percentiles of a trace; shares are fractions, times seconds."""
    jobs = trace.jobs
    work = jobs.gpus * jobs.run
    span = float(jobs.submit[-1] - jobs.submit[0])
    return {
        "name": trace.name,
        "digest": trace.digest(),
        "jobs": len(jobs),
        "span_seconds": span,
        "gpu_hours": float(work.sum()) / 3600.0,
        "offered_gpu_hours_per_hour": float(work.sum()) / span if span > 0 else None,
        "gpus": {"mean": float(jobs.gpus.mean()), "max": int(jobs.gpus.max())},
        "sizes": _sizes(jobs),
        "run_seconds": _spread(jobs.run),
        "recorded_wait_seconds": _spread(jobs.recorded_start - jobs.submit),
        "interarrival_cv": _variation(np.diff(jobs.submit)),
        "users": _distinct(jobs.user),
        "partitions": _shares(jobs.partition),
        "gpu_types": _shares(jobs.gpu_type),
        "limits": _limits(jobs),
        "notes": list(trace.notes),
    }


def _sizes(jobs: Jobs) -> list[dict[str, Any]]:
    """Share of jobs and of GPU time per range of sizes; ranges without jobs are left out."""
    work = jobs.gpus * jobs.run
    total = float(work.sum())
    rows = []
    for low, high in _SIZES:
        chosen: Bools = jobs.gpus >= low
        if high is not None:
            chosen &= jobs.gpus <= high
        if chosen.any():
            label = f"{low}" if high == low else f"{low}+" if high is None else f"{low}-{high}"
            time = float(work[chosen].sum()) / total if total > 0 else 0.0
            rows.append({"gpus": label, "jobs": float(chosen.mean()), "gpu_time": time})
    return rows


def _spread(values: Any) -> dict[str, float] | None:
    """Mean, percentiles and maximum of the known values."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return None
    marks = np.percentile(known, _PERCENTILES)
    spread = {f"p{mark}": float(value) for mark, value in zip(_PERCENTILES, marks, strict=True)}
    return {"mean": float(known.mean()), **spread, "max": float(known.max())}


def _variation(gaps: Any) -> float | None:
    """Coefficient of variation; 1 for Poisson arrivals, more for bursts."""
    if len(gaps) == 0 or gaps.mean() == 0:
        return None
    return float(gaps.std() / gaps.mean())


def _distinct(names: Names) -> int:
    return len(np.unique(names.codes[names.codes >= 0]))


def _shares(names: Names) -> dict[str, float]:
    """Share of jobs per name, largest first; jobs without a name are not listed."""
    counts = np.bincount(names.codes[names.codes >= 0], minlength=len(names.values))
    ranked = np.argsort(-counts, kind="stable")
    return {names.values[i]: float(counts[i] / len(names.codes)) for i in ranked if counts[i]}


def _limits(jobs: Jobs) -> dict[str, float | None]:
    """How many jobs have a time limit, and how much of it the median job uses."""
    known = np.isfinite(jobs.limit)
    used = jobs.run[known] / jobs.limit[known]
    return {
        "known": float(known.mean()),
        "median_run_over_limit": float(np.median(used)) if known.any() else None,
    }
