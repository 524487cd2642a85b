"""What the operator wants, as it stands in a live cluster: waits, slowdowns and tails in ratios.

>>> slurm = {"wait_mean": 1200.0, "wait_p95": 4000.0, "bsld_mean": 3.0}
>>> ours = {**slurm, "wait_p95": 8000.0}
>>> wanted_ratio(Objective(), slurm, ours), wanted_ratio(Objective(wait=0.0, tail=1.0), slurm, ours)
(1.0, 2.0)
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import bounded_slowdown
from dovetail.domain.objective import Objective

SHORTEST = 600.0
"""Seconds; on an idle cluster ten times a wait of a second is nothing, see the trip-wire."""
WAITS = ("wait_mean", "wait_p95")


def live_measures(wait: Floats, run: Floats) -> dict[str, float]:
    """What an objective may weigh of jobs that have run, under the names of `summary`."""
    return {
        "wait_mean": float(wait.mean()),
        "wait_p95": float(np.quantile(wait, 0.95)),
        "bsld_mean": float(bounded_slowdown(wait, run).mean()),
    }


def wanted_ratio(
    objective: Objective, slurm: Mapping[str, float], ours: Mapping[str, float], bias: float = 1.0
) -> float:
    """What is wanted, as it is over what it is under Slurm alone; 1.1 is ten per cent worse.

    bias: by what factor waits are longer than the twin says; short ones count as ten minutes.
    """
    before = {
        name: max(SHORTEST, value * bias) if name in WAITS else value
        for name, value in slurm.items()
    }
    after = {name: max(SHORTEST, value) if name in WAITS else value for name, value in ours.items()}
    return round(math.exp(objective.cost(before, after)), 3)
