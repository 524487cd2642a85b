"""Scores of a handful of waiting jobs outside the simulator: for the daemon and for tests."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import SCORE, Ordering


def scores(
    ordering: Ordering, jobs: NDArray[Any], accounts: NDArray[Any], cluster: NDArray[Any]
) -> Floats:
    """The score of every job, lower goes first; tables of JobFacts, AccountFacts, ClusterFacts."""
    out = np.empty(len(jobs))
    parameters = np.array([*ordering.parameters.values()], np.float64)
    rows = np.arange(len(jobs), dtype=np.int64)
    _apply(ordering.score, parameters, jobs, accounts, cluster, rows, out)
    return out


@numba.njit(types.void(types.FunctionType(SCORE), *SCORE.args), cache=True)
def _apply(
    score: Any, parameters: Floats, jobs: Any, accounts: Any, cluster: Any, rows: Ints, out: Floats
) -> None:
    score(parameters, jobs, accounts, cluster, rows, out)
