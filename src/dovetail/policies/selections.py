"""Which of the features an agent is shown, by situation: a table that kernels read.

`sampled` takes eight of them (see policies.features):

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

`raw` (what a job asks for, nothing of the cluster's state, nothing engineered) and `all` are what
it is compared with. `forecast` is `sampled`, and what else a prediction says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.domain.jobs import Ints
from dovetail.domain.registry import Registry
from dovetail.policies.features import EVERY_FEATURE, FEATURES, FORECAST_FEATURES, Matrix

SCATTERED = 0.5
"""Fragmentation above which the size of a job tells more than its urgency."""

WAYS = FEATURES.index("ways_to_schedule")
TWO_WAYS = 2 / 4
"""ways_to_schedule of a job that two kinds of nodes by free GPUs could host."""

OF_USE = ("user_share", "held", "free_in")
"""Features of what running jobs use."""

SITUATIONS = 4
"""Usual; several ways; scattered; both."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A feature for each slot, and what takes its place in the other situations."""

    name: str
    usual: tuple[str, ...]
    scattered: Mapping[str, str] = field(default_factory=dict)
    several_ways: Mapping[str, str] = field(default_factory=dict)

    @property
    def width(self) -> int:
        return len(self.usual)

    def names(self) -> tuple[tuple[str, ...], ...]:
        """The features of each situation."""
        return tuple(
            tuple(scattered.get(name, several.get(name, name)) for name in self.usual)
            for scattered in ({}, self.scattered)
            for several in ({}, self.several_ways)
        )

    @property
    def looks_at_use(self) -> bool:
        """Whether it shows what running jobs use: the simulator then has to keep count."""
        return any(name in OF_USE for row in self.names() for name in row)

    def table(self) -> Ints:
        """Rows of EVERY_FEATURE [situations, width], as `select` reads them."""
        return np.array([[EVERY_FEATURE.index(n) for n in row] for row in self.names()], np.int64)


@kernel
def select(table: Any, seen: Matrix, fragmentation: float, count: int, out: Any) -> None:
    """Copy selected features of the first jobs from [features, jobs] to [jobs, width].

    A network that wants jobs side by side passes the transpose of its matrix.
    """
    situation = 2 if fragmentation > SCATTERED else 0
    for slot in range(table.shape[1]):
        usual, several = int(table[situation, slot]), int(table[situation + 1, slot])
        for i in range(count):
            out[i, slot] = seen[usual, i]
        if several != usual:
            for i in range(count):
                if seen[WAYS, i] >= TWO_WAYS:
                    out[i, slot] = seen[several, i]


SAMPLED = Selection(
    "sampled",
    usual=(
        "requested_gpus",
        "requested_time",
        "submit_time",
        "can_schedule_now",
        "demand_supply_ratio",
        "future_availability",
        "urgency",
        "free_nodes",
    ),
    scattered={"urgency": "job_size"},
    several_ways={"free_nodes": "ways_to_schedule"},
)
RAW = Selection(
    "raw",
    usual=(
        "requested_gpus",
        "requested_time",
        "submit_time",
        "requested_cpus",
        "requested_memory",
        "partition",
        "gpu_type",
        "user_share",
    ),
)
ALL = Selection("all", usual=FEATURES)
FORECAST = replace(SAMPLED, name="forecast", usual=SAMPLED.usual + FORECAST_FEATURES)

SELECTIONS: Registry[Selection] = Registry(
    "selection of features", {part.name: part for part in (SAMPLED, RAW, ALL, FORECAST)}
)
