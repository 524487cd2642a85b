"""HyperScore: one number from 100 to 110 for how near an episode came to its ideal.

It is reported and never optimised. V is the share of the ideal in what was reached: the mean time
that jobs would take if each ran at once on the GPU that suits it best, divided by their mean
completion time. It lies between 0 and 1.

>>> round(hyper_score(1.0), 1), round(hyper_score(0.5), 2), hyper_score(0.0), hyper_score(-3.0)
(110.0, 100.02, 100.0, 100.0)
"""

from __future__ import annotations

import math

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.envs.gpu_assignment.config import GpuAssignmentConfig

SENSITIVITY, SHIFT, POWER = 5.0, -math.log(2.0), 2.1
"""β, γ and κ as published."""


def hyper_score(value: float) -> float:
    """100 · [1 + σ(β · ln V + γ)^κ]; 100 where V is 0 or below, as its limit, and for NaN."""
    if not value > 0:
        return 100.0
    exponent = SENSITIVITY * math.log(value) + SHIFT
    sigmoid = 1.0 / (1.0 + math.exp(-exponent)) if exponent > -700 else 0.0
    return float(100.0 * (1.0 + sigmoid**POWER))


def ideal_completion_times(config: GpuAssignmentConfig, seeds: range) -> Floats:
    """Per episode: the mean time of jobs that never wait and always get the GPU that suits them."""
    best = dict(zip(config.kinds, config.believed_speeds().max(axis=1).tolist(), strict=True))
    found = []
    for seed in seeds:
        jobs = config.draw(np.random.default_rng(seed)).trace.jobs
        speed = np.array([best[kind or ""] for kind in jobs.kind.names()])
        found.append(float(np.mean(jobs.run / speed)))
    return np.array(found)
