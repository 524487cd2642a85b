"""What an agent sees of the jobs shown: an observation is a compiled function and two widths.

`SITUATIONAL` samples eight of the seventeen features (see policies.features) by situation:

| slot | feature             | or, in the other situation                                     |
|------|---------------------|----------------------------------------------------------------|
| 0    | requested_gpus      |                                                                |
| 1    | requested_time      |                                                                |
| 2    | submit_time         |                                                                |
| 3    | can_schedule_now    |                                                                |
| 4    | demand_supply_ratio |                                                                |
| 5    | future_availability |                                                                |
| 6    | urgency             | job_size, when fragmentation is above 0.5: sizes decide there  |
| 7    | free_nodes          | ways_to_schedule, when there are two ways or more              |

The critic sees submit_time, requested_time, requested_gpus, can_schedule_now and urgency.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import types
from numpy.typing import NDArray

from dovetail.domain.compiled import Late
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
from dovetail.policies.features import FEATURES, Matrix, describe_jobs

Singles = NDArray[np.float32]

OBSERVE = types.void(
    JOBS,
    ACCOUNTS,
    DEMANDS,
    CLUSTER,  # one row
    types.int64[::1],  # rows of the jobs shown
    types.float64[:, ::1],  # scratch [features, jobs]
    types.float32[:, ::1],  # out: [jobs, width], for the actor
    types.float32[:, ::1],  # out: [jobs, critic width]
)


def observing(function: Callable[..., None]) -> Late:
    """An observation; arguments as in OBSERVE."""
    return Late(OBSERVE, function)


@dataclass(frozen=True, slots=True)
class Observation:
    """What is written of each job shown, every value within [low, 1]."""

    name: str
    write: Late  # made by `observing`
    width: int
    critic_width: int
    low: float = -1.0


GPUS = FEATURES.index("requested_gpus")
TIME = FEATURES.index("requested_time")
SUBMIT = FEATURES.index("submit_time")
NOW = FEATURES.index("can_schedule_now")
RATIO = FEATURES.index("demand_supply_ratio")
FUTURE = FEATURES.index("future_availability")
SIZE = FEATURES.index("job_size")
URGENCY = FEATURES.index("urgency")
WAYS = FEATURES.index("ways_to_schedule")
NODES = FEATURES.index("free_nodes")

SCATTERED = 0.5
"""Fragmentation above which the size of a job tells more than its urgency."""

TWO_WAYS = 2 / 4
"""ways_to_schedule of a job that two kinds of nodes by free GPUs could host."""


@observing
def _situational(
    jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, seen: Matrix, out: Singles, critic: Singles,
) -> None:  # fmt: skip
    describe_jobs(jobs, accounts, demands, cluster, rows, seen)
    sixth = SIZE if cluster[0].fragmentation > SCATTERED else URGENCY
    for i in range(len(rows)):
        out[i, 0] = seen[GPUS, i]
        out[i, 1] = seen[TIME, i]
        out[i, 2] = seen[SUBMIT, i]
        out[i, 3] = seen[NOW, i]
        out[i, 4] = seen[RATIO, i]
        out[i, 5] = seen[FUTURE, i]
        out[i, 6] = seen[sixth, i]
        out[i, 7] = seen[WAYS, i] if seen[WAYS, i] >= TWO_WAYS else seen[NODES, i]
        critic[i, 0] = seen[SUBMIT, i]
        critic[i, 1] = seen[TIME, i]
        critic[i, 2] = seen[GPUS, i]
        critic[i, 3] = seen[NOW, i]
        critic[i, 4] = seen[URGENCY, i]


SITUATIONAL = Observation("situational", _situational, width=8, critic_width=5)
