"""Orderings whose score is known when a job arrives and never changes."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import (
    AccountRows,
    ClusterRow,
    DemandRows,
    JobRows,
    Ordering,
    scoring,
)


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts in a weighted score, in the order that the score reads it."""

    submit: float = 0.0
    estimate: float = 0.0
    gpu_time: float = 0.0  # GPUs x estimate
    predicted_gpu_time: float = 0.0  # GPUs x prediction from history
    priority: float = 0.0


@scoring
def _weighted(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        out[i] = (
            p[0] * job.submit
            + p[1] * job.estimate
            + p[2] * (job.size * job.estimate)
            + p[3] * (job.size * job.predicted)
            + p[4] * job.priority
        )


@scoring
def _wide_area(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        # Roots and products are exact to the last bit on every machine; powers are not.
        out[i] = job.size * (p[0] * math.sqrt(job.size) + p[1] * job.size) * job.estimate


@scoring
def _f1(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        # Published with the absolute submit time; the origin must be the sequence's own start,
        # or the second term is the same for every job of a trace that begins years after 0.
        age = math.log10(job.submit - cluster[0].origin + 1.0)
        out[i] = math.log10(job.estimate) * job.size + 870.0 * age


@scoring
def _edf(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        deadline = jobs[rows[i]].deadline
        out[i] = math.inf if math.isnan(deadline) else deadline


def weighted(name: str, weights: Weights, about: str) -> Ordering:
    """The sum of a job's facts, each with its weight; the lowest goes first."""
    uses_prediction = weights.predicted_gpu_time != 0
    return Ordering(
        name, _weighted, parameters=asdict(weights), uses_prediction=uses_prediction, about=about
    )


# In these lines w is seconds waited, e the estimate, g GPUs; the lowest score goes first.
FCFS = weighted("fcfs", Weights(submit=1.0), "submit time: first come, first served")
LCFS = weighted("lcfs", Weights(submit=-1.0), "−submit time: last come, first served")
SJF = weighted("sjf", Weights(estimate=1.0), "e: shortest estimate first")
LJF = weighted("ljf", Weights(estimate=-1.0), "−e: longest estimate first")
SAF = weighted("saf", Weights(gpu_time=1.0), "g · e: smallest area first")
# An estimate that is half believed is a root of it, and orders as a higher power of the size does.
SAF_15 = Ordering(
    "saf-1.5",
    _wide_area,
    parameters={"root": 1.0, "square": 0.0},
    about="g · √g · e: smallest area first, by estimates that are believed by two thirds",
)
SAF_2 = Ordering(
    "saf-2",
    _wide_area,
    parameters={"root": 0.0, "square": 1.0},
    about="g · g · e: smallest area first, by estimates that are believed by half",
)
QSSF = weighted(
    "qssf",
    Weights(predicted_gpu_time=1.0),
    "g · predicted run time: smallest area first, from ended jobs alone",
)
PRIORITY = weighted("priority", Weights(priority=-1.0), "−the job's own static priority")
F1 = Ordering("f1", _f1, about="log₁₀(e) · g + 870 · log₁₀(submit − first submit + 1)")
EDF = Ordering("edf", _edf, about="deadline: earliest first, jobs without one last")
