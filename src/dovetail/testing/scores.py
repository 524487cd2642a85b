"""Scores of a handful of waiting jobs outside the simulator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.compiled.tables import Table, new_table
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import DemandFacts, Ordering


def scores(
    ordering: Ordering, jobs: Table, accounts: Table, cluster: Table, demands: Table | None = None
) -> Floats:
    """The score of every job, lower goes first."""
    return advice(ordering, jobs, accounts, cluster, demands).score


class Advice(NamedTuple):
    """What an ordering says of each job (see domain.policy.SCORE)."""

    score: Floats
    gate: Floats
    keep: Floats


def advice(
    ordering: Ordering, jobs: Table, accounts: Table, cluster: Table, demands: Table | None = None
) -> Advice:
    """Scores, and how a job may start; from tables of ...Facts rows."""
    out, gate, keep = np.empty(len(jobs)), np.zeros(len(jobs)), np.zeros(len(jobs))
    demands = new_table(DemandFacts, 1) if demands is None else demands
    rows, numbers = np.arange(len(jobs), dtype=np.int64), ordering.numbers()
    _apply(
        ordering.score.pointer,
        numbers,
        jobs,
        accounts,
        demands,
        cluster,
        rows,
        out,
        gate,
        keep,
    )
    ordering.score.raise_failure(numbers, jobs)
    return Advice(out, gate, keep)


@kernel
def _apply(
    score: Any,
    parameters: Floats,
    jobs: Any,
    accounts: Any,
    demands: Any,
    cluster: Any,
    rows: Ints,
    out: Floats,
    gate: Floats,
    keep: Floats,
) -> None:
    score(parameters, jobs, accounts, demands, cluster, rows, out, gate, keep)
