"""Placements by name; a new one is one preference function and one line here."""

from __future__ import annotations

import numpy as np

from dovetail.domain.policy import Placement
from dovetail.domain.registry import Registry, instances_of
from dovetail.policies.placement.by_speed import unsuitedness
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

OWN = "own"
"""The placement that a checkpoint was trained with."""

PLACEMENTS: Registry[Placement] = Registry(
    "placement",
    {
        placement.name: placement
        for placement in (
            Placement("first-available", first_available, about="the first node that fits"),
            Placement("best-fit", best_fit, about="the node with the fewest free GPUs that fits"),
            Placement("worst-fit", worst_fit, about="the node with the most free GPUs"),
            Placement(
                "topology-aware",
                best_fit,
                few_switches=True,
                about="best-fit; gangs on as few switches as possible",
            ),
            Placement(
                "fgd",
                fgd,
                about="where the expected waste grows least (fragmentation gradient descent)",
            ),
            Placement(
                "gpu-affinity",
                best_fit,
                affinity=DEFAULT_AFFINITY,
                about="best-fit; kinds of jobs try the GPU types that suit them first",
            ),
            Placement(
                "suited",
                best_fit,
                type_cost=unsuitedness,
                about="best-fit on the GPU types that slow this kind of job less than others",
            ),
            Placement(
                "lifetime",
                lifetime,
                uses_time=True,
                weights=LIFETIME,
                about="few free GPUs, and busy for as long anyway: whole nodes become free sooner",
            ),
            Placement(
                "milp",
                best_fit,
                optimiser=milp,
                about="a plan for the first 16 jobs by HiGHS (needs dovetail-scheduler[milp])",
            ),
            Placement(
                "multistart",
                best_fit,
                optimiser=multistart,
                about="a plan for the first 16 jobs: the best of many greedy ones",
            ),
            Placement(
                "rltune",
                best_fit,
                optimiser=rltune,
                about="packs or spreads, whichever lets the first 16 jobs use more GPUs (RLTune)",
            ),
        )
    },
    group="dovetail.placements",
    admit=instances_of(Placement, OWN),
)

__all__ = ["DEFAULT_AFFINITY", "OWN", "PLACEMENTS"]
