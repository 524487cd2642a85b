"""What an agent sees of the jobs shown: a compiled function that writes a selection of features.

Which features stand in which slot says policies.selections. The critic sees submit_time,
requested_time, requested_gpus, can_schedule_now and urgency.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from dovetail.compiled.functions import LazyFunction, kernel
from dovetail.compiled.tables import Row, Table, dtype_of
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
    demand_features,
    describe_forecasts,
    describe_jobs,
    lasting_features,
    passing_features,
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


class LastingFacts(Row):
    """What is written of a job and never changes: 56 bytes of it, where its facts have 152."""

    submit: float
    estimate: float
    size: float
    demand: int
    # features that stay as they are
    requested_gpus: float
    requested_time: float
    job_size: float


LASTING = types.Array(numba.from_dtype(dtype_of(LastingFacts)), 1, "C")
OBSERVE = types.void(
    JOBS,
    LASTING,  # of the same jobs
    ACCOUNTS,
    DEMANDS,
    CLUSTER,  # one row
    types.int64[:, ::1],  # features [situations, width], see policies.selections
    types.int64[::1],  # demands with waiting jobs
    types.int64[::1],  # rows of the jobs shown
    types.float64[:, ::1],  # scratch [features, jobs shown or demands]
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


@kernel
def note_lasting(jobs: JobRows, cluster: ClusterRow, out: Table) -> None:
    """Write the LastingFacts of jobs."""
    log_total, log_month = math.log(cluster[0].total_gpus + 1.0), math.log(MONTH)
    for i in range(len(jobs)):
        job, mine = jobs[i], out[i]
        mine.submit, mine.estimate, mine.size = job.submit, job.estimate, job.size
        mine.demand = job.demand
        mine.requested_gpus, mine.requested_time, mine.job_size = lasting_features(
            job.log_gpus, job.log_estimate, log_total, log_month
        )


@observing
def _selected(
    jobs: JobRows, lasting: Any, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    table: Any, asked: Ints, rows: Ints, seen: Matrix, out: Singles, critic: Singles,
) -> None:  # fmt: skip
    describe_jobs(jobs, accounts, demands, cluster, rows, seen)
    select(table, seen, cluster[0].fragmentation, len(rows), out)
    for slot in range(len(CRITIC)):
        for i in range(len(rows)):
            critic[i, slot] = seen[CRITIC[slot], i]


@observing
def _forecast(
    jobs: JobRows, lasting: Any, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    table: Any, asked: Ints, rows: Ints, seen: Matrix, out: Singles, critic: Singles,
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
    jobs: JobRows, lasting: Any, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    table: Any, asked: Ints, rows: Ints, seen: Matrix, out: Singles, critic: Singles,
) -> None:  # fmt: skip
    """The same for the usual selection, straight from facts: 25 instead of 32 ns a job.

    What jobs of a demand share is written once, and what never changes is not calculated: of nine
    divisions a job three are left.
    """
    site = cluster[0]
    now, scattered = site.now, site.fragmentation > SCATTERED
    for i in range(len(asked)):
        number = asked[i]
        nodes, fits, ways, future = demand_features(demands[number])
        seen[0, number], seen[1, number] = fits, future
        seen[2, number] = ways if ways >= TWO_WAYS else nodes
        seen[3, number] = demands[number].free_gpus
    for i in range(len(rows)):
        job = lasting[rows[i]]
        number = job.demand
        submit, supply, urgency = passing_features(job, seen[3, number], now)
        gpus, time, fits = job.requested_gpus, job.requested_time, seen[0, number]
        mine, others = out[i], critic[i]
        mine[0], mine[1], mine[2], mine[3], mine[4] = gpus, time, submit, fits, supply
        mine[5] = seen[1, number]
        mine[6] = job.job_size if scattered else urgency
        mine[7] = seen[2, number]
        others[0], others[1], others[2], others[3], others[4] = submit, time, gpus, fits, urgency


_WRITERS = {SAMPLED.name: _sampled, FORECAST.name: _forecast}
OBSERVATIONS: Registry[Observation] = Registry(
    "observation",
    {
        name: Observation(name, _WRITERS.get(name, _selected), part, len(CRITIC))
        for name, part in SELECTIONS.items()
    },
)
SITUATIONAL = OBSERVATIONS["sampled"]
