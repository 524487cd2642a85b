"""Where replays are played: in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dovetail.agents.evolution.players import LocalPlayers, Players
from dovetail.agents.evolution.replays import Replay
from dovetail.domain.errors import ConfigError
from dovetail.domain.registry import Registry
from dovetail.policies.learned.families import Family

Engine = Callable[[Sequence[Replay], Family, int], Players]
"""Replays, what plays them and the number of workers to the players."""


def _local(address: str | None) -> Engine:
    if address is not None:
        raise ConfigError("--address is for --engine ray; processes of this machine have none")
    return LocalPlayers


def _ray(address: str | None) -> Engine:
    from dovetail.agents.evolution.ray_players import RayPlayers, require_ray

    require_ray()  # better missed now than after the replays are made
    return partial(RayPlayers, address=address)


ENGINES: Registry[Callable[[str | None], Engine]] = Registry(
    "engine", {"local": _local, "ray": _ray}
)
"""Each takes the address of a running cluster, None for one of its own."""
