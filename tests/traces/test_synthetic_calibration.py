"""Headline figures of the published traces, which the drawn ones must come near to."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from dovetail.traces.synthetic import WORKLOADS, synthesize

# Measured on the public traces: share of jobs and of GPU time with one GPU, the same above 8
# GPUs, GPU time of the top 10 % of jobs, jobs under a minute, over a day, and the coefficient
# of variation of inter-arrival times.
REAL = {
    "philly": {
        "one": 0.876,
        "one_time": 0.185,
        "large": 0.008,
        "large_time": 0.120,
        "top_tenth": 0.972,
        "minute": 0.107,
        "day": 0.060,
        "variation": 21.6,
    },
    "helios": {
        "one": 0.507,
        "one_time": 0.046,
        "large": 0.099,
        "large_time": 0.596,
        "top_tenth": 0.954,
        "minute": 0.226,
        "day": 0.037,
        "variation": 15.1,
    },
    "pai": {
        "one": 0.767,
        "one_time": 0.084,
        "large": 0.139,
        "large_time": 0.841,
        "top_tenth": 0.915,
        "minute": 0.148,
        "day": 0.0072,
        "variation": 2.5,
    },
}
SLACK = {  # absolute, relative
    "one": (0.005, 0.0),
    "one_time": (0.0, 0.15),
    "large": (0.002, 0.0),
    "large_time": (0.0, 0.1),
    "top_tenth": (0.015, 0.0),
    "minute": (0.015, 0.0),
    "day": (0.0, 0.15),
    "variation": (0.0, 0.35),
}


@cache
def measured(name: str, seed: int) -> dict[str, float]:
    jobs = synthesize(WORKLOADS[name], 100_000, seed).jobs
    time = jobs.gpus * jobs.run
    gaps = np.diff(jobs.submit)
    return {
        "one": float((jobs.gpus == 1).mean()),
        "one_time": float(time[jobs.gpus == 1].sum() / time.sum()),
        "large": float((jobs.gpus > 8).mean()),
        "large_time": float(time[jobs.gpus > 8].sum() / time.sum()),
        "top_tenth": float(np.sort(time)[-len(time) // 10 :].sum() / time.sum()),
        "minute": float((jobs.run < 60).mean()),
        "day": float((jobs.run > 86_400).mean()),
        "variation": float(gaps.std() / gaps.mean()),
    }


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("figure", list(SLACK))
@pytest.mark.parametrize("name", list(REAL))
def test_the_drawn_trace_comes_near_the_published_figure(name: str, figure: str, seed: int) -> None:
    absolute, relative = SLACK[figure]
    real = REAL[name][figure]
    assert measured(name, seed)[figure] == pytest.approx(real, abs=absolute, rel=relative)
