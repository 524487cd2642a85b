"""Orderings whose score is known when a job arrives and never changes."""

from __future__ import annotations

import math
from typing import Any

from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import AccountRows, ClusterRow, DemandRows, JobRows, Ordering, scoring


@scoring
def _fcfs(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        out[i] = jobs[rows[i]].submit


@scoring
def _lcfs(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        out[i] = -jobs[rows[i]].submit


@scoring
def _sjf(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        out[i] = jobs[rows[i]].estimate


@scoring
def _ljf(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        out[i] = -jobs[rows[i]].estimate


@scoring
def _saf(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        out[i] = jobs[rows[i]].gpus * jobs[rows[i]].estimate


@scoring
def _f1(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        # Published with the absolute submit time; the origin must be the sequence's own start,
        # or the second term is the same for every job of a trace that begins years after 0.
        age = math.log10(job.submit - cluster[0].origin + 1.0)
        out[i] = math.log10(job.estimate) * job.gpus + 870.0 * age


@scoring
def _qssf(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        out[i] = jobs[rows[i]].gpus * jobs[rows[i]].predicted


@scoring
def _edf(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        deadline = jobs[rows[i]].deadline
        out[i] = math.inf if math.isnan(deadline) else deadline


@scoring
def _priority(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        out[i] = -jobs[rows[i]].priority


def _static(name: str, score: Any, uses_prediction: bool = False) -> Ordering:
    return Ordering(name, score, uses_prediction=uses_prediction)


FCFS = _static("fcfs", _fcfs)
LCFS = _static("lcfs", _lcfs)
SJF = _static("sjf", _sjf)
LJF = _static("ljf", _ljf)
SAF = _static("saf", _saf)
F1 = _static("f1", _f1)
QSSF = _static("qssf", _qssf, uses_prediction=True)
EDF = _static("edf", _edf)
PRIORITY = _static("priority", _priority)
