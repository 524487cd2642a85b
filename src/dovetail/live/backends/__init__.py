"""Ways to a live Slurm, by name; each gives the same snapshot and carries out the same changes."""

from __future__ import annotations

from collections.abc import Callable

from dovetail.domain.registry import Registry
from dovetail.live.backends.base import Backend
from dovetail.live.backends.by_commands import CommandsBackend
from dovetail.live.config import SlurmConfig

BACKENDS: Registry[Callable[[SlurmConfig], Backend]] = Registry(
    "backend", {"commands": CommandsBackend}
)
