"""Where replays are played: in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Protocol

from dovetail.agents.evolution.players import Players
from dovetail.agents.evolution.replays import Replay, Score
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.domain.registry import Registry
from dovetail.policies.learned.families import Family


class Team(Protocol):
    """Plays replays for a population, between entering and leaving it."""

    def __enter__(self) -> Team: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def play(self, candidates: Floats, chosen: Sequence[int]) -> list[Score]:
        """Mean score of every candidate over the chosen replays; the same on any engine."""


Engine = Callable[[Sequence[Replay], Family, int], Team]
"""Replays, what plays them and the number of workers to the team that does it."""


def _local(address: str | None) -> Engine:
    if address is not None:
        raise ConfigError("--address is for --engine ray; processes of this machine have none")
    return Players


def _ray(address: str | None) -> Engine:
    from dovetail.agents.evolution.ray_players import RayPlayers, require_ray

    require_ray()  # better missed now than after the replays are made
    return partial(RayPlayers, address=address)


ENGINES: Registry[Callable[[str | None], Engine]] = Registry(
    "engine", {"local": _local, "ray": _ray}
)
"""Each takes the address of a running cluster, None for one of its own."""
