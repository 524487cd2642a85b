"""Every registry answers a misspelt name with the one that was probably meant."""

from __future__ import annotations

from typing import Any

import pytest

from dovetail.agents.catalogue import AGENTS
from dovetail.agents.rltune.starts import STARTS
from dovetail.domain.errors import UnknownName
from dovetail.domain.registry import Registry
from dovetail.envs.observation import OBSERVATIONS
from dovetail.mig.envs.observation import MIG_OBSERVATIONS
from dovetail.mig.envs.reward import MIG_REWARDS
from dovetail.mig.gpus.table import GPU_MODELS
from dovetail.mig.policies import PLACERS
from dovetail.policies.learned.models import MODELS
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.policy import BACKFILLS
from dovetail.policies.sampling import SELECTIONS
from dovetail.traces.clusters import CLUSTER_FORMATS
from dovetail.traces.formats import FORMATS
from dovetail.traces.repair import REPAIRS
from dovetail.traces.synthetic import WORKLOADS, synthesize

REGISTRIES: tuple[Registry[Any], ...] = (
    ORDERINGS,
    PLACEMENTS,
    BACKFILLS,
    FORMATS,
    CLUSTER_FORMATS,
    REPAIRS,
    WORKLOADS,
    AGENTS,
    MODELS,
    STARTS,
    SELECTIONS,
    OBSERVATIONS,
    GPU_MODELS,
    PLACERS,
    MIG_OBSERVATIONS,
    MIG_REWARDS,
)
ENTRIES = [
    pytest.param(registry, name, id=f"{registry.kind} {name}")
    for registry in REGISTRIES
    for name in registry
]


@pytest.mark.parametrize(("registry", "name"), ENTRIES)
def test_a_misspelt_name_is_answered_with_the_nearest(registry: Registry[Any], name: str) -> None:
    with pytest.raises(UnknownName, match="did you mean") as caught:
        registry[f"{name}x"]
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_a_name_like_no_other_is_answered_with_the_list(registry: Registry[Any]) -> None:
    with pytest.raises(UnknownName, match="known are") as caught:
        registry["???"]
    assert all(name in str(caught.value) for name in registry)


@pytest.mark.parametrize("name", list(WORKLOADS))
def test_every_workload_draws_the_same_jobs_from_the_same_seed(name: str) -> None:
    first, second, other = (
        synthesize(WORKLOADS[name], jobs=100, seed=seed).digest() for seed in (1, 1, 2)
    )
    assert first == second != other
