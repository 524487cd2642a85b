"""What learned networks make of replays, against what the choice makes of the same jobs.

`open_replays` holds the players; `validate` scores exported networks: below 0 is better than the
choice.

Windows of an environment are short; what counts in the end are long replays of the exported
networks. So these are what linear rules are searched on and what the best networks are chosen by.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from dovetail.agents.aim import aim_of
from dovetail.agents.choice.cells import CellConfig, SiteHistory, validation_cells
from dovetail.agents.players import Players
from dovetail.agents.replays import Replay, ReplayCell, Score, mean_score
from dovetail.agents.training import LearnerConfig, Lesson
from dovetail.policies.learned.checkpoint import Checkpoint

Arrays = Mapping[str, NDArray[Any]]


class LearnerReplays:
    """Replays of the learning part, then those of the validation part, in one row of players."""

    def __init__(self, players: Players, learning: int, kind: str, estimates: str) -> None:
        """kind, estimates: of the checkpoints that are played."""
        self.players, self.kind, self.estimates = players, kind, estimates
        self.learning, self.validation = range(learning), range(learning, len(players))

    def play(self, learned: Sequence[Arrays], numbers: Sequence[int]) -> list[Score]:
        """The mean score of each over these replays."""
        members = [Checkpoint(self.kind, arrays, {}, self.estimates) for arrays in learned]
        found = self.players.play([(number, one) for one in members for number in numbers])
        each = len(numbers)
        return [mean_score(found[i : i + each]) for i in range(0, len(found), each)]

    def validate(self, arrays: Arrays) -> Score:
        """On jobs that nothing was learned from."""
        return self.play([arrays], self.validation)[0]

    def gap(self, arrays: Arrays) -> float:
        """How much better than the choice they are there; 0 where nobody waits."""
        loss = self.validate(arrays).loss
        return 0.0 if math.isnan(loss) else -loss


@contextmanager
def open_replays(
    lesson: Lesson,
    history: SiteHistory,
    config: LearnerConfig,
    kind: str,
    estimates: str,
    learning: Sequence[ReplayCell] = (),
) -> Iterator[LearnerReplays]:
    """Play the choice on all of them first: it is what everything is compared with."""
    cells = CellConfig(config.estimates, jitters=1, longest=config.longest, seed=config.seed + 1)
    every = [*learning, *validation_cells(history, cells)]
    with lesson.engine(every, lesson.workers) as players:
        rivals = players.play([(number, lesson.choice) for number in range(len(every))])
    aim = aim_of(config.objective)
    replays = [Replay(cell, rival, aim) for cell, rival in zip(every, rivals, strict=True)]
    with lesson.engine(replays, lesson.workers) as players:
        yield LearnerReplays(players, len(learning), kind, estimates)
