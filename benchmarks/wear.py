"""How soon a GPU at half speed is found, and how often a sound one is suspected.

python -m benchmarks.run wear        # some seconds
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from dovetail.telemetry.wear import WearRule, WearWatch

SIGMAS = (0.3, 0.6, 1.0)
GPUS, SOUND_JOBS = 500, 300_000


def run() -> dict[str, Any]:
    result = {f"sigma_{sigma:g}": measure(sigma) for sigma in SIGMAS}
    print(json.dumps(result, indent=1))
    return result


def measure(sigma: float) -> dict[str, float]:
    """Errors are normal in the logarithm, which is how predictors err, outliers aside."""
    random = np.random.default_rng(0)
    found = [_jobs_until_found(sigma, random) for _ in range(GPUS)]
    return {
        "median_jobs": float(np.median(found)),
        "jobs_p90": float(np.percentile(found, 90)),
        "false_alarms_in_10000_jobs": round(1e4 * _false_alarms(sigma, random) / SOUND_JOBS, 2),
    }


def _jobs_until_found(sigma: float, random: np.random.Generator) -> int:
    """Fifty jobs at full speed, then it falls to half of it."""
    watch, count = WearWatch(WearRule(sigma)), 0
    for log in random.normal(0.0, sigma, 50).tolist():
        watch.job_ended("gpu", 100.0, 100.0 * math.exp(log))
    while not watch.speeds():
        count += 1
        watch.job_ended("gpu", 100.0, 200.0 * math.exp(random.normal(0.0, sigma)))
    return count


def _false_alarms(sigma: float, random: np.random.Generator) -> int:
    watch, alarms = WearWatch(WearRule(sigma)), 0
    for log in random.normal(0.0, sigma, SOUND_JOBS).tolist():
        watch.job_ended("gpu", 100.0, 100.0 * math.exp(log))
        if watch.speeds():
            alarms, watch = alarms + 1, WearWatch(WearRule(sigma))
    return alarms
