"""Where two networks begin: as the base pair, where that is a linear rule of features.

Orders by an estimate and a power of the size and best-fit are linear in what the networks see, and
lifetime nearly so. Others are imitated.
"""

from __future__ import annotations

import math

import numpy as np

from dovetail.agents.choice.candidates import POWERS
from dovetail.agents.rltune.starts import Heuristic
from dovetail.agents.selector_allocator.networks import PairActor
from dovetail.envs.selector_allocator.config import ALLOCATOR, SELECTOR
from dovetail.policies.features import FEATURES, MONTH
from dovetail.policies.node_features import BRIEF

TEMPERATURE = 4.0
"""How sure the selector is at first: a job twice as large is 16 times less likely to be next."""

PACKING = 30.0
"""The same of the allocator: a node with 2 GPUs free is 14 times less likely than one with 1."""

SELECTOR_SCALE, ALLOCATOR_SCALE = TEMPERATURE, PACKING / 10
"""What the search for linear rules varies weights by: a feature from 0 to 1 then counts as much as
a job 2.7 times as large, or as one free GPU."""

LATER = PACKING / 14.0 * math.log(1.0 + MONTH / BRIEF)
"""What `lifetime` counts that a node is idle later: as much as a free GPU, when the logarithm of
the time grows by one. `free_count` grows by about a fourteenth for each GPU."""

LINEAR = {"best-fit": 0.0, "topology-aware": 0.0, "lifetime": LATER}


def begin_as(actor: PairActor, order: str, place: str, gpus: int) -> frozenset[str]:
    """Set both linear parts; the agents that are not what they are to begin as by that alone."""
    actor.selector.follow(_by_size(POWERS.get(order, 1.0), gpus))
    actor.allocator.follow(PACKING, LINEAR.get(place, 0.0))
    exact = {SELECTOR: order in POWERS, ALLOCATOR: place in LINEAR}
    return frozenset(name for name, is_exact in exact.items() if not is_exact)


def _by_size(counts_gpus: float, gpus: int) -> Heuristic:
    """logit = -temperature · log(estimate · GPUs ** counts_gpus); the features are scaled logs."""
    scales = {
        "requested_gpus": counts_gpus * math.log(1.0 + gpus),
        "requested_time": math.log(MONTH),
    }
    skip = np.array([-TEMPERATURE * scales.get(name, 0.0) for name in FEATURES])
    # Waiting is less likely than any job.
    return Heuristic(skip, decline=float(skip.sum()) - TEMPERATURE)
