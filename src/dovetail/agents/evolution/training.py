"""Evolution of an index or a network on replays of one history or of several.

It starts as near to the choice as its family can come, and every replay compares with what the
choice makes of the same jobs. Replays come from the first part of what it is given; of the
candidates validated on the rest, the best is kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.agents.aim import MEASURES, USUAL_TEXT, aim_of
from dovetail.agents.choice.candidates import POWERS, PolicyCandidate
from dovetail.agents.choice.cells import LONGEST, CellConfig, validation_cells
from dovetail.agents.evolution.search import Evolution
from dovetail.agents.evolution.search_file import load_search, refuse_damage, save_search
from dovetail.agents.history import facts
from dovetail.agents.players import Players
from dovetail.agents.promised import promised_tail
from dovetail.agents.replays import Replay, Score, mean_score
from dovetail.agents.training import Lesson
from dovetail.agents.training_run import TrainingRun
from dovetail.agents.warm_cells import warm_cells
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from dovetail.policies.learned.families import (
    FAMILIES,
    Family,
    Learned,
    PlacementWeights,
    index_vector,
)
from dovetail.policies.ordering.index import IndexWeights


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How long and on what to train; stored with the checkpoint."""

    family: str = "index"
    epochs: int = 16
    population: int = 12
    batch: int = 8  # replays that every candidate of an epoch plays, as many of each site
    replays: int = 12  # of each site
    length: int = 20_000  # jobs of a replay
    estimates: str = "predicted"
    objective: str = USUAL_TEXT  # what is wanted, by weight
    promises: str = ""  # to be kept against Slurm's own order: size_p95=10%
    spread: float = 0.5  # of the family's scales
    validate_every: int = 4
    patience: int = 3  # validations without improvement
    longest: int = LONGEST  # jobs of the validation part that are measured at most, at each load
    seed: int = 0

    def __post_init__(self) -> None:
        FAMILIES[self.family]
        aim_of(self.objective)
        promised_tail(self.promises)
        for name in ("epochs", "batch", "replays", "length", "validate_every", "patience"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected 1 or more")
        if self.population < 4:
            raise ConfigError(f"population is {self.population}, expected 4 or more")


@dataclass(frozen=True, slots=True)
class EvolutionProgress:
    """One epoch: losses are logarithms of ratios to the choice, below 0 is better."""

    epoch: int
    epochs: int
    loss: float
    validation: Score  # of the best candidate so far

    def __str__(self) -> str:
        return f"learning, epoch {self.epoch}/{self.epochs}: {self.validation} against the choice"


@dataclass(frozen=True, slots=True)
class EvolutionMember:
    """One vector of a family, told what the choice is told."""

    family: str
    vector: Floats = field(repr=False)
    estimates: str = ""

    def policy(self, name: str) -> Learned:
        return FAMILIES[self.family].policy(np.array(self.vector), name)


def learn(lesson: Lesson, config: TrainingConfig) -> Checkpoint:
    """The best member of the family on validation; goes on where it stopped."""
    choice = lesson.choice
    drawn = [
        warm_cells(
            history, choice, config.replays, config.length, np.random.default_rng(config.seed)
        )
        for history in lesson.histories
    ]
    cells = CellConfig(config.estimates, jitters=1, longest=config.longest, seed=config.seed + 1)
    judged = [list(validation_cells(history, cells)) for history in lesson.histories]
    every = [*chain(*drawn), *chain(*judged)]
    with lesson.engine(every, lesson.workers) as players:
        rivals = players.play([(number, choice) for number in range(len(every))])
    aim = aim_of(config.objective)
    replays = [Replay(cell, rival, aim) for cell, rival in zip(every, rivals, strict=True)]
    counts = [len(of_site) for of_site in drawn]
    sites = [history.site for history in lesson.histories]
    about = {**facts("evolution", config, sites), "start": str(choice)}
    with lesson.engine(replays, lesson.workers) as players:
        _EvolutionRun(lesson.folder, config, about, choice, counts, players).go_on(lesson.report)
    return load_checkpoint(lesson.folder)


def start_at(family: Family, choice: PolicyCandidate) -> Floats:
    """The vector of an index nearest to a choice; a network begins as SAF."""
    if not family.terms:
        return family.start
    weights = IndexWeights(gpus=POWERS.get(choice.order, 1.0))
    placed = PlacementWeights(place_later=1.0 if choice.placement == "lifetime" else 0.0)
    return index_vector((weights, placed), family.terms)


class _EvolutionRun(TrainingRun[EvolutionProgress]):
    """A search, and the best candidate so far."""

    def __init__(
        self,
        folder: Path,
        config: TrainingConfig,
        facts: dict[str, Any],
        choice: PolicyCandidate,
        counts: list[int],
        players: Players,
    ) -> None:
        super().__init__(folder, config, facts)
        self.config, self.players, self.estimates = config, players, choice.estimates
        ends = np.cumsum([0, *counts]).tolist()
        self.replays = [range(begin, end) for begin, end in pairwise(ends)]  # of each site
        self.validation = range(ends[-1], len(players))
        self.family = FAMILIES[config.family]
        # In units of the family's scales, so that one spread suits all numbers.
        start = start_at(self.family, choice) / self.family.scale
        self.search = Evolution(start, config.spread, config.population, config.seed)
        self.aim = aim_of(config.objective)
        self.best = Score.of(self.aim, [math.inf] * len(MEASURES))

    @property
    def mean(self) -> Floats:
        return np.asarray(self.search.mean * self.family.scale)

    def resume(self) -> bool:
        saved = load_search(self.folder, self.facts)
        if saved is None:
            return False
        saved.into(self.search)
        about = saved.about
        with refuse_damage(saved.path):
            self.epoch, self.stale = int(about["epoch"]), int(about["stale"])
            values, tails = about["best"]
            self.best = Score.of(self.aim, [*map(float, values)], tuple(map(float, tails)))
        return True

    def save(self) -> None:
        best = (self.best.values, self.best.tails)
        about = {"epoch": self.epoch, "best": best, "stale": self.stale}
        save_search(self.folder, self.search, {"facts": self.facts, **about})

    def learn(self) -> float:
        candidates = self.search.ask()
        scores = self._play(candidates * self.family.scale, self.draw())
        losses = np.nan_to_num([score.loss for score in scores])
        self.search.tell(candidates, losses)
        return float(losses.mean())

    def progress(self, loss: float) -> EvolutionProgress:
        return EvolutionProgress(self.epoch, self.config.epochs, loss, self.best)

    def draw(self) -> list[int]:
        """The replays of this epoch, as many of each site."""
        random = np.random.default_rng((self.config.seed, self.epoch))
        each = max(1, self.config.batch // len(self.replays))
        drawn = [random.permutation(of_site)[:each] for of_site in self.replays]
        return [int(number) for of_site in drawn for number in of_site]

    def keep_if_best(self) -> bool:
        (score,) = self._play(self.mean[np.newaxis], self.validation)
        if not score.loss < self.best.loss and self.epoch > 0:
            return False
        self.best = score
        card = {**self.facts, "epoch": self.epoch, "validation": score.facts()}
        arrays = {"weights": self.mean}
        save_checkpoint(self.folder, Checkpoint(self.config.family, arrays, card, self.estimates))
        return True

    def _play(self, vectors: Floats, chosen: Sequence[int]) -> list[Score]:
        """Mean score of every vector over the chosen replays; the same for any workers."""
        members = [EvolutionMember(self.config.family, row, self.estimates) for row in vectors]
        found = self.players.play([(number, one) for one in members for number in chosen])
        each = len(chosen)
        return [mean_score(found[i : i + each]) for i in range(0, len(found), each)]
