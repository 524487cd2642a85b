"""What an agent sees of the jobs shown: a compiled function that writes a selection of features.

Which features stand in which slot says policies.selections. The critic sees submit_time,
requested_time, requested_gpus, can_schedule_now and urgency.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from dovetail.compiled.functions import LazyFunction
from dovetail.domain.jobs import Ints
from dovetail.domain.policy import (
    ACCOUNTS,
    CLUSTER,
    DEMANDS,
    JOBS,
    AccountRows,
    ClusterRow,
    DemandRows,
    JobRows,
)
from dovetail.domain.registry import Registry
from dovetail.policies.features import (
    FEATURES,
    MONTH,
    Matrix,
    describe_forecasts,
    describe_jobs,
    usual_features,
)
from dovetail.policies.selections import (
    FORECAST,
    SAMPLED,
    SCATTERED,
    SELECTIONS,
    TWO_WAYS,
    Selection,
    select,
)

Singles = NDArray[np.float32]

OBSERVE = types.void(
    JOBS,
    ACCOUNTS,
    DEMANDS,
    CLUSTER,  # one row
    types.int64[:, ::1],  # features [situations, width], see policies.selections
    types.int64[::1],  # rows of the jobs shown
    types.float64[:, ::1],  # scratch [features, jobs]
    types.float32[:, ::1],  # out: [jobs, width], for the actor
    types.float32[:, ::1],  # out: [jobs, critic width]
)


def observing(function: Callable[..., None]) -> LazyFunction:
    """An observation; arguments as in OBSERVE."""
    return LazyFunction(OBSERVE, function)


@dataclass(frozen=True, slots=True)
class Observation:
    """What is written of each job shown, every value within [low, 1]."""

    name: str
    write: LazyFunction  # made by `observing`
    selection: Selection  # for the actor
    critic_width: int
    low: float = -1.0

    @property
    def width(self) -> int:
        return self.selection.width


CRITIC_FEATURES = (
    "submit_time",
    "requested_time",
    "requested_gpus",
    "can_schedule_now",
    "urgency",
)
CRITIC = tuple(FEATURES.index(name) for name in CRITIC_FEATURES)


@observing
def _selected(
    jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    table: Any, rows: Ints, seen: Matrix, out: Singles, critic: Singles,
) -> None:  # fmt: skip
    describe_jobs(jobs, accounts, demands, cluster, rows, seen)
    select(table, seen, cluster[0].fragmentation, len(rows), out)
    for slot in range(len(CRITIC)):
        for i in range(len(rows)):
            critic[i, slot] = seen[CRITIC[slot], i]


@observing
def _forecast(
    jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    table: Any, rows: Ints, seen: Matrix, out: Singles, critic: Singles,
) -> None:  # fmt: skip
    """The same with what else is known of run times; one function more, so that others stay."""
    describe_jobs(jobs, accounts, demands, cluster, rows, seen)
    describe_forecasts(jobs, cluster, rows, seen)
    select(table, seen, cluster[0].fragmentation, len(rows), out)
    for slot in range(len(CRITIC)):
        for i in range(len(rows)):
            critic[i, slot] = seen[CRITIC[slot], i]


@observing
def _sampled(
    jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    table: Any, rows: Ints, seen: Matrix, out: Singles, critic: Singles,
) -> None:  # fmt: skip
    """The same for the usual selection, straight from facts: 25 instead of 32 ns a job."""
    site = cluster[0]
    log_total, log_month = math.log(site.total_gpus + 1.0), math.log(MONTH)
    scattered = site.fragmentation > SCATTERED
    for i in range(len(rows)):
        job = jobs[rows[i]]
        gpus, time, submit, nodes, now, ways, supply, size, urgency, future = usual_features(
            job, demands[job.demand], site.now, log_total, log_month
        )
        mine, others = out[i], critic[i]
        mine[0], mine[1], mine[2], mine[3], mine[4] = gpus, time, submit, now, supply
        mine[5] = future
        mine[6] = size if scattered else urgency
        mine[7] = ways if ways >= TWO_WAYS else nodes
        others[0], others[1], others[2], others[3], others[4] = submit, time, gpus, now, urgency


_WRITERS = {SAMPLED.name: _sampled, FORECAST.name: _forecast}
OBSERVATIONS: Registry[Observation] = Registry(
    "observation",
    {
        name: Observation(name, _WRITERS.get(name, _selected), part, len(CRITIC))
        for name, part in SELECTIONS.items()
    },
)
SITUATIONAL = OBSERVATIONS["sampled"]
