"""Whoever plays replays: in this process, in several of this machine, or elsewhere."""

from __future__ import annotations

import multiprocessing
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType
from typing import Any, Protocol, Self

from dovetail.domain.errors import ConfigError
from dovetail.domain.processes import submit


class Playable(Protocol):
    """Something that is sent to the players once, and then played often."""

    def play(self, contestant: Any) -> Any: ...


Task = tuple[int, Any]
"""The number of a playable, and who plays it."""

_PLAYABLES: list[Playable] = []  # of a worker process; set once by its initializer


class Players(ABC):
    """Plays tasks, between entering and leaving it; the results are the same wherever.

    >>> with LocalPlayers([]) as players:
    ...     len(players)
    0
    """

    def __init__(self, playables: Sequence[Playable], workers: int = 1) -> None:
        self._playables, self._workers = list(playables), workers

    def __len__(self) -> int:
        """How many playables there are."""
        return len(self._playables)

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    @abstractmethod
    def play(self, tasks: Sequence[Task]) -> list[Any]:
        """One result for each task, in their order."""


class LocalPlayers(Players):
    """In this process, or in several of this machine, which get the playables at the start."""

    def __init__(self, playables: Sequence[Playable], workers: int = 1) -> None:
        super().__init__(playables, workers)
        self._pool = None
        if workers > 1:
            self._pool = ProcessPoolExecutor(
                workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_receive,
                initargs=(self._playables,),
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def play(self, tasks: Sequence[Task]) -> list[Any]:
        if self._pool is None:
            return [self._playables[number].play(contestant) for number, contestant in tasks]
        pool = self._pool
        return _results(submit(pool, _play_here, *task) for task in tasks)


def _results(handed: Iterable[Future[Any]]) -> list[Any]:
    try:
        return [task.result() for task in list(handed)]
    except BrokenProcessPool as problem:
        raise ConfigError(
            "a worker process ended unexpectedly: was there memory enough? The same command goes "
            "on; use fewer --workers"
        ) from problem


def _receive(playables: list[Playable]) -> None:
    _PLAYABLES.extend(playables)


def _play_here(number: int, contestant: Any) -> Any:
    return _PLAYABLES[number].play(contestant)
