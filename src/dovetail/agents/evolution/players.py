"""Candidates play replays, in this process or in several."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType

import numpy as np

from dovetail.agents.evolution.replays import Replay, Score
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.domain.processes import submit
from dovetail.policies.learned.families import FAMILIES, Family

_REPLAYS: list[Replay] = []  # of a worker process; set once by its initializer


class Players:
    """Plays replays for a population; workers get the replays once, at their start.

    with Players(replays, FAMILIES["index"], workers=2) as players:
        scores = players.play(candidates, chosen=[0, 3, 5])
    """

    def __init__(self, replays: Sequence[Replay], family: Family, workers: int = 1) -> None:
        self._replays, self._family = list(replays), family
        self._pool = None
        if workers > 1:
            self._pool = ProcessPoolExecutor(
                workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_receive,
                initargs=(self._replays,),
            )

    def __enter__(self) -> Players:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def play(self, candidates: Floats, chosen: Sequence[int]) -> list[Score]:
        """Mean score of every candidate over the chosen replays; the same for any workers."""
        tasks = [(row, number) for row in candidates for number in chosen]
        if self._pool is None:
            scores = [play_one(self._replays, self._family, *task) for task in tasks]
        else:
            name = self._family.name
            pool = self._pool
            scores = _results(submit(pool, _play_here, name, *task) for task in tasks)
        return mean_scores(scores, len(candidates))


def _results(handed: Iterable[Future[Score]]) -> list[Score]:
    try:
        return [task.result() for task in list(handed)]
    except BrokenProcessPool as problem:
        raise ConfigError(
            "a worker process ended unexpectedly: was there memory enough? The same command goes "
            "on; use fewer --workers"
        ) from problem


def mean_scores(scores: Sequence[Score], candidates: int) -> list[Score]:
    """Of each candidate; scores lie candidate by candidate."""
    means = np.array(scores).reshape(candidates, -1, len(Score._fields)).mean(axis=1)
    return [Score(*row) for row in means.tolist()]


def play_one(replays: Sequence[Replay], family: Family, vector: Floats, number: int) -> Score:
    """What a candidate scores in one replay."""
    return replays[number].score(*family.policy(vector, "candidate"))


def _receive(replays: list[Replay]) -> None:
    _REPLAYS.extend(replays)


def _play_here(family: str, vector: Floats, number: int) -> Score:
    return play_one(_REPLAYS, FAMILIES[family], vector, number)
