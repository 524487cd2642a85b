"""Whoever plays replays: in this process, in several of this machine, or elsewhere."""

from __future__ import annotations

import gc
import multiprocessing
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
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
    def play_each(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        """Which of the tasks, and its result, as they are finished."""

    def play(self, tasks: Sequence[Task]) -> list[Any]:
        """One result for each task, in their order."""
        found = dict(self.play_each(tasks))
        return [found[at] for at in range(len(tasks))]


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

    def play_each(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        if self._pool is None:
            for at, (number, contestant) in enumerate(tasks):
                yield at, self._playables[number].play(contestant)
            return
        pool = self._pool
        try:
            handed = {submit(pool, _play_here, *task): at for at, task in enumerate(tasks)}
            for future in as_completed(handed):
                yield handed[future], future.result()
        except BrokenProcessPool as problem:
            raise ConfigError(
                "a worker process ended unexpectedly: was there memory enough? The same command "
                "goes on; use fewer --workers"
            ) from problem


def _receive(playables: list[Playable]) -> None:
    gc.freeze()  # what was imported stays: Python looks through it no more, not even at the end
    _PLAYABLES.extend(playables)


def _play_here(number: int, contestant: Any) -> Any:
    return _PLAYABLES[number].play(contestant)
