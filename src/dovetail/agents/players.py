"""Candidates play episodes, in this process or in several."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from types import TracebackType

import numpy as np

from dovetail.agents.episodes import Episode
from dovetail.domain.jobs import Floats
from dovetail.policies.ordering.learned import learned

_EPISODES: list[Episode] = []  # of a worker process; set once by its initializer


class Players:
    """Plays episodes for a population; workers get the episodes once, at their start.

    with Players(episodes, workers=2) as players:
        losses = players.play(candidates, chosen=[0, 3, 5])
    """

    def __init__(self, episodes: Sequence[Episode], workers: int = 1) -> None:
        self._episodes = list(episodes)
        self._pool = None
        if workers > 1:
            self._pool = ProcessPoolExecutor(
                workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_receive,
                initargs=(self._episodes,),
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

    def play(self, candidates: Floats, chosen: Sequence[int]) -> Floats:
        """Mean score of every candidate over the chosen episodes; the same for any workers."""
        if self._pool is None:
            return np.array([score(self._episodes, row, chosen) for row in candidates])
        tasks = [self._pool.submit(_score_here, row, list(chosen)) for row in candidates]
        return np.array([task.result() for task in tasks])


def _receive(episodes: list[Episode]) -> None:
    _EPISODES.extend(episodes)


def _score_here(weights: Floats, chosen: list[int]) -> float:
    return score(_EPISODES, weights, chosen)


def score(episodes: Sequence[Episode], weights: Floats, chosen: Sequence[int]) -> float:
    """Mean score of one candidate over the chosen episodes."""
    ordering = learned(weights, "candidate")
    return float(np.mean([episodes[i].score(ordering) for i in chosen]))
