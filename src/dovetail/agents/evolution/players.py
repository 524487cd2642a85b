"""Candidates play replays, in this process or in several."""

from __future__ import annotations

import multiprocessing
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType
from typing import Self

import numpy as np

from dovetail.agents.evolution.replays import Replay, Score
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.domain.processes import submit
from dovetail.policies.learned.families import FAMILIES, Family

_REPLAYS: list[Replay] = []  # of a worker process; set once by its initializer


Task = tuple[Floats, int]
"""A candidate and the number of a replay."""


class Players(ABC):
    """Plays replays for a population, between entering and leaving it; the same wherever.

    >>> from dovetail.policies.learned.families import FAMILIES
    >>> with LocalPlayers([], FAMILIES["index"]) as players:
    ...     len(players)
    0
    """

    def __init__(self, replays: Sequence[Replay], family: Family, workers: int = 1) -> None:
        self._replays, self._family, self._workers = list(replays), family, workers

    def __len__(self) -> int:
        """How many replays there are."""
        return len(self._replays)

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def play(self, candidates: Floats, chosen: Sequence[int]) -> list[Score]:
        """Mean score of every candidate over the chosen replays; the same for any workers."""
        scores = self._scores([(row, number) for row in candidates for number in chosen])
        means = np.array(scores).reshape(len(candidates), -1, len(Score._fields)).mean(axis=1)
        return [Score(*row) for row in means.tolist()]

    @abstractmethod
    def _scores(self, tasks: Sequence[Task]) -> list[Score]:
        """One score for each task, in their order."""


class LocalPlayers(Players):
    """In this process, or in several of this machine, which get the replays once, at the start."""

    def __init__(self, replays: Sequence[Replay], family: Family, workers: int = 1) -> None:
        super().__init__(replays, family, workers)
        self._pool = None
        if workers > 1:
            self._pool = ProcessPoolExecutor(
                workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_receive,
                initargs=(self._replays,),
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _scores(self, tasks: Sequence[Task]) -> list[Score]:
        if self._pool is None:
            return [play_one(self._replays, self._family, *task) for task in tasks]
        pool, name = self._pool, self._family.name
        return _results(submit(pool, _play_here, name, *task) for task in tasks)


def _results(handed: Iterable[Future[Score]]) -> list[Score]:
    try:
        return [task.result() for task in list(handed)]
    except BrokenProcessPool as problem:
        raise ConfigError(
            "a worker process ended unexpectedly: was there memory enough? The same command goes "
            "on; use fewer --workers"
        ) from problem


def play_one(replays: Sequence[Replay], family: Family, vector: Floats, number: int) -> Score:
    """What a candidate scores in one replay."""
    return replays[number].score(*family.policy(vector, "candidate"))


def _receive(replays: list[Replay]) -> None:
    _REPLAYS.extend(replays)


def _play_here(family: str, vector: Floats, number: int) -> Score:
    return play_one(_REPLAYS, FAMILIES[family], vector, number)
