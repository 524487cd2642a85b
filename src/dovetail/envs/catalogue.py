"""Every environment by its name: ours, and those that other packages offer.

>>> import gymnasium, dovetail.envs
>>> QUEUE_PRIORITY in gymnasium.registry
True

Environments of several agents have no Gymnasium id: they are modules with `env()` and
`parallel_env()`, by PettingZoo's conventions.

>>> MULTI_AGENT[SELECTOR_ALLOCATOR].module
'dovetail.envs.selector_allocator_v0'
"""

from __future__ import annotations

import re
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import gymnasium

from dovetail.domain.errors import ConfigError
from dovetail.domain.registry import Registry

QUEUE_PRIORITY = "dovetail/QueuePriority-v0"
GPU_ASSIGNMENT = "dovetail/GpuAssignment-v0"
MIG_PLACEMENT = "dovetail/MigPlacement-v0"
MIG_REPARTITION = "dovetail/MigRepartition-v0"

SELECTOR_ALLOCATOR = "selector_allocator_v0"

ID = re.compile(r"[\w-]+/[\w-]+-v\d+")
"""Namespace, name and version, as Gymnasium has them."""


class EnvironmentEntry(NamedTuple):
    """What makes an environment: a class, or its module and name."""

    one: type[gymnasium.Env[Any, Any]] | str
    many: str | None = None  # that are stepped together


def admit_environment(name: str, part: Any) -> EnvironmentEntry:
    """A class of Gymnasium environments."""
    if not (isinstance(part, type) and issubclass(part, gymnasium.Env)):
        raise ConfigError(f"{part!r} is no class of gymnasium.Env")
    return EnvironmentEntry(part)


ENVIRONMENTS: Registry[EnvironmentEntry] = Registry(
    "environment",
    {
        QUEUE_PRIORITY: EnvironmentEntry(
            "dovetail.envs.queue_priority:QueuePriority",
            "dovetail.envs.queue_priority:QueuePriorityVector",
        ),
        GPU_ASSIGNMENT: EnvironmentEntry(
            "dovetail.envs.gpu_assignment:GpuAssignment",
            "dovetail.envs.gpu_assignment:GpuAssignmentVector",
        ),
        MIG_PLACEMENT: EnvironmentEntry(
            "dovetail.mig.envs:MigPlacement", "dovetail.mig.envs:MigPlacementVector"
        ),
        MIG_REPARTITION: EnvironmentEntry(
            "dovetail.mig.envs:MigRepartition", "dovetail.mig.envs:MigRepartitionVector"
        ),
    },
    group="dovetail.environments",
    admit=admit_environment,
    pattern=ID,
)

VERSIONED = re.compile(r"\w+_v\d+")
"""Name and version, as PettingZoo has them."""


class MultiAgentEntry(NamedTuple):
    """The module that makes an environment of several agents; imported when it is asked for."""

    module: str

    def load(self) -> ModuleType:
        """The module; one of ours says what to install where PettingZoo is missing."""
        return import_module(self.module)


def admit_multi_agent(name: str, part: Any) -> MultiAgentEntry:
    """A module with `env` and `parallel_env`."""
    if not isinstance(part, ModuleType):
        raise ConfigError(f"{part!r} is no module")
    for maker in ("env", "parallel_env"):
        if not callable(getattr(part, maker, None)):
            raise ConfigError(f"the module {part.__name__} has no {maker}()")
    return MultiAgentEntry(part.__name__)


MULTI_AGENT: Registry[MultiAgentEntry] = Registry(
    "multi-agent environment",
    {SELECTOR_ALLOCATOR: MultiAgentEntry("dovetail.envs.selector_allocator_v0")},
    group="dovetail.multi_agent_environments",
    admit=admit_multi_agent,
    pattern=VERSIONED,
)


def register_all() -> None:
    """Make all of them known to Gymnasium; a package is imported when its environment is made."""
    for name in ENVIRONMENTS.names():
        if name in gymnasium.registry:
            continue
        if ENVIRONMENTS.is_built_in(name):
            one, many = ENVIRONMENTS[name]
            assert isinstance(one, str)
            gymnasium.register(name, entry_point=one, vector_entry_point=many)
        else:
            gymnasium.register(name, entry_point=partial(_create, name))


def _create(name: str, **arguments: Any) -> gymnasium.Env[Any, Any]:
    made = ENVIRONMENTS[name].one
    assert not isinstance(made, str)
    return made(**arguments)
