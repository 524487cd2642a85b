"""Where a kernel network begins: at a heuristic that it then corrects, or at random."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.domain.registry import Registry
from dovetail.policies.features import MONTH
from dovetail.policies.selections import Selection


class Heuristic(NamedTuple):
    """A linear rule on the selected features, and the logit of declining to backfill."""

    skip: Floats  # [width]
    decline: float


def saf(selection: Selection, total_gpus: float, temperature: float) -> Heuristic:
    """Smallest area first: logit = -temperature · log(GPUs x estimate), all may be backfilled."""
    # Both features are logarithms divided by these.
    scales = {"requested_gpus": math.log(1.0 + total_gpus), "requested_time": math.log(MONTH)}
    skip = np.array([-temperature * scales.get(name, 0.0) for name in selection.usual])
    return Heuristic(skip, decline=float(skip.sum()))


def random(selection: Selection, total_gpus: float, temperature: float) -> None:
    """Random weights, as published: no heuristic."""


STARTS: Registry[Callable[[Selection, float, float], Heuristic | None]] = Registry(
    "start", {"saf": saf, "random": random}
)
