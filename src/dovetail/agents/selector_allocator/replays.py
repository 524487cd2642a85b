"""What a pair makes of replays, against what the choice makes of the same jobs.

    with open_replays(lesson, history, config) as replays:
        replays.validate(arrays)       # Score: below 0 is better than the choice

Windows of the environment are short and end with an empty queue; what counts in the end are long
replays of the exported networks. So these are what the linear start is searched on, what the best
networks are chosen by, and what decides which half is worth having.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.agents.choice.cells import LOADS, CellConfig, SiteHistory, cut, validation_cells
from dovetail.agents.players import Players
from dovetail.agents.replays import Replay, ReplayCell, Score, mean_score
from dovetail.agents.selector_allocator.config import SelectorAllocatorSettings
from dovetail.agents.training import Lesson
from dovetail.policies.learned.checkpoint import Checkpoint

KIND = "selector-allocator"
Arrays = Mapping[str, NDArray[Any]]


class PairReplays:
    """Replays of the learning part, then those of the validation part, in one row of players."""

    def __init__(self, players: Players, learning: int, estimates: str) -> None:
        self.players, self.estimates = players, estimates
        self.learning, self.validation = range(learning), range(learning, len(players))

    def play(self, pairs: Sequence[Arrays], numbers: Sequence[int]) -> list[Score]:
        """The mean score of each pair over these replays."""
        members = [Checkpoint(KIND, arrays, {}, self.estimates) for arrays in pairs]
        found = self.players.play([(number, one) for one in members for number in numbers])
        each = len(numbers)
        return [mean_score(found[i : i + each]) for i in range(0, len(found), each)]

    def validate(self, arrays: Arrays) -> Score:
        """On jobs that nothing was learned from."""
        return self.play([arrays], self.validation)[0]


@contextmanager
def open_replays(
    lesson: Lesson, history: SiteHistory, config: SelectorAllocatorSettings
) -> Iterator[PairReplays]:
    """Play the choice on all of them first: it is what everything is compared with."""
    drawn = _learning_cells(history, config)
    cells = CellConfig(config.estimates, jitters=1, longest=config.longest, seed=config.seed + 1)
    every = [*drawn, *validation_cells(history, cells)]
    with lesson.engine(every, lesson.workers) as players:
        rivals = players.play([(number, lesson.choice) for number in range(len(every))])
    replays = [Replay(cell, rival) for cell, rival in zip(every, rivals, strict=True)]
    with lesson.engine(replays, lesson.workers) as players:
        yield PairReplays(players, len(drawn), lesson.choice.estimates)


def _learning_cells(history: SiteHistory, config: SelectorAllocatorSettings) -> list[ReplayCell]:
    """Parts of what may be learned from, at random loads; a fifth of each fills the cluster."""
    if config.search_epochs == 0:
        return []
    random = np.random.default_rng((config.seed, 1 << 21))
    length = min(config.replay_length, history.learning)
    found = []
    for _ in range(config.replays):
        begin = int(random.integers(history.learning - length + 1))
        load, seed = float(random.choice(LOADS)), int(random.integers(1 << 31))
        found.append(cut(history, begin, begin + length, length // 5, load, seed))
    return found
