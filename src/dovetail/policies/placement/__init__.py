"""Placements by name; a new one is one preference function and one line here."""

from __future__ import annotations

import numpy as np

from dovetail.domain.policy import Placement
from dovetail.domain.registry import Registry
from dovetail.policies.placement.planned import milp, multistart, rltune
from dovetail.policies.placement.preferences import (
    best_fit,
    fgd,
    first_available,
    lifetime,
    worst_fit,
)

DEFAULT_AFFINITY = {
    "inference": ("t4", "k80", "m40", "p100"),
    "training": ("a100", "v100", "v100m32", "p100"),
    "worker": ("v100", "v100m32", "p100"),
    "interactive": ("t4", "k80", "m40"),
}
"""Which GPU types a kind of job is sent to first; other types follow when these are full."""

LIFETIME = np.array([1.0, 1.0, 0.0])
"""Of a dozen tried on three real traces under SAF: 6 to 8 % less waiting than best-fit on each."""

PLACEMENTS: Registry[Placement] = Registry(
    "placement",
    {
        placement.name: placement
        for placement in (
            Placement("first-available", first_available),
            Placement("best-fit", best_fit),
            Placement("worst-fit", worst_fit),
            Placement("topology-aware", best_fit, few_switches=True),
            Placement("fgd", fgd),
            Placement("gpu-affinity", best_fit, affinity=DEFAULT_AFFINITY),
            Placement("lifetime", lifetime, uses_time=True, weights=LIFETIME),
            Placement("milp", best_fit, optimiser=milp),
            Placement("multistart", best_fit, optimiser=multistart),
            Placement("rltune", best_fit, optimiser=rltune),
        )
    },
)

__all__ = ["DEFAULT_AFFINITY", "PLACEMENTS"]
