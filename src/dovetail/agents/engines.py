"""Where replays are played: in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dovetail.agents.players import LocalPlayers, Playable, Players
from dovetail.domain.errors import ConfigError
from dovetail.domain.registry import Registry

Engine = Callable[[Sequence[Playable], int], Players]
"""What is played and the number of workers to the players."""


def _local(address: str | None) -> Engine:
    if address is not None:
        raise ConfigError("--address is for --engine ray; processes of this machine have none")
    return LocalPlayers


def _ray(address: str | None) -> Engine:
    from dovetail.agents.ray_players import RayPlayers, require_ray

    require_ray()  # better missed now than after the replays are made
    return partial(RayPlayers, address=address)


LOCAL = "local"

ENGINES: Registry[Callable[[str | None], Engine]] = Registry("engine", {LOCAL: _local, "ray": _ray})
"""Each takes the address of a running cluster, None for one of its own."""
