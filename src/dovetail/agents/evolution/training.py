"""Training by evolution on the history of one cluster or of several: resumable, validated.

    train([Site(trace, cluster)], Path("model"), TrainingConfig(), report=print)

The last tenth of each trace is never looked at. Of the rest, the first eight ninths make the
replays, the last ninth the validation by which the best candidate is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.agents.engines import Engine
from dovetail.agents.evolution.players import LocalPlayers, Players
from dovetail.agents.evolution.replays import Replay, Score, make_replay, make_replays
from dovetail.agents.evolution.search import Evolution
from dovetail.agents.evolution.search_file import load_search, refuse_damage, save_search
from dovetail.agents.history import Site, divide, facts
from dovetail.agents.training_run import TrainingRun
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from dovetail.policies.learned.families import FAMILIES
from dovetail.prediction.estimates import make_estimates


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How long and on what to train; stored with the checkpoint."""

    family: str = "index"
    epochs: int = 20
    population: int = 12
    batch: int = 15  # replays that every candidate of an epoch plays, as many of each site
    replays: int = 8  # of each site
    validation_replays: int = 6  # of each site, with other noise in the estimates
    length: int = 30_000  # jobs of a replay
    estimates: str = "noisy:1"
    spread: float = 0.5  # of the family's scales
    validate_every: int = 5
    patience: int = 8  # validations without improvement
    seed: int = 0

    def __post_init__(self) -> None:
        FAMILIES[self.family]
        for name in ("epochs", "batch", "replays", "validation_replays", "length", "patience"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected 1 or more")
        if self.population < 4:
            raise ConfigError(f"population is {self.population}, expected 4 or more")


@dataclass(frozen=True, slots=True)
class EvolutionProgress:
    """One epoch: losses are logarithms of ratios to SAF, below 0 is better."""

    epoch: int
    epochs: int
    loss: float
    validation: Score  # of the best candidate so far

    def __str__(self) -> str:
        wait, bsld = (f"{math.expm1(value):+.1%}" for value in self.validation)
        return f"epoch {self.epoch}/{self.epochs}: wait {wait}, bsld {bsld} against SAF"


def train(
    sites: Sequence[Site],
    folder: Path,
    config: TrainingConfig,
    report: Callable[[EvolutionProgress], None] = lambda progress: None,
    workers: int = 1,
    engine: Engine = LocalPlayers,
) -> Checkpoint:
    """Train, or go on where an earlier call with the same configuration stopped.

    KeyboardInterrupt is passed on; the best candidate so far is in the folder.
    """
    replays = [_to_learn_from(site, config) for site in sites]
    validation = [replay for site in sites for replay in _to_choose_by(site, config)]
    counts = [len(of_site) for of_site in replays]
    about = facts("evolution", config, sites)
    with engine([*chain(*replays), *validation], FAMILIES[config.family], workers) as players:
        _EvolutionRun(folder, config, about, counts, players).go_on(report)
    return load_checkpoint(folder)


def _to_learn_from(site: Site, config: TrainingConfig) -> list[Replay]:
    known = divide(site.trace, 1).learning
    found = make_replays(
        known, site.cluster, config.replays, config.length, config.seed, config.estimates
    )
    if not found:
        raise ConfigError(
            f"{site.trace.name} on {site.cluster.name}: jobs hardly wait, there is nothing to "
            "learn; try a smaller cluster"
        )
    return found


def _to_choose_by(site: Site, config: TrainingConfig) -> list[Replay]:
    """What was learned from, to fill the cluster; then the validation part, which is measured."""
    parts = divide(site.trace, 1)
    measured = len(parts.validation)
    before = min(len(parts.learning), config.length)
    trace = site.trace.slice(parts.known - measured - before, parts.known)
    return [
        make_replay(
            trace,
            site.cluster,
            make_estimates(trace, config.estimates, seed=config.seed + 1000 + draw),
            before,
            parts=1,
        )
        for draw in range(config.validation_replays)
    ]


class _EvolutionRun(TrainingRun[EvolutionProgress]):
    """A search, and the best candidate so far."""

    def __init__(
        self,
        folder: Path,
        config: TrainingConfig,
        facts: dict[str, Any],
        counts: list[int],
        players: Players,
    ) -> None:
        super().__init__(folder, config, facts)
        self.config, self.players = config, players
        ends = np.cumsum([0, *counts]).tolist()
        self.replays = [range(begin, end) for begin, end in pairwise(ends)]  # of each site
        self.validation = range(ends[-1], len(players))
        self.family = FAMILIES[config.family]
        # In units of the family's scales, so that one spread suits all numbers.
        self.search = Evolution(
            self.family.start / self.family.scale, config.spread, config.population, config.seed
        )
        self.best = Score(math.inf, math.inf)

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
            self.best = Score(*about["best"])
        return True

    def save(self) -> None:
        about = {"epoch": self.epoch, "best": self.best, "stale": self.stale}
        save_search(self.folder, self.search, {"facts": self.facts, **about})

    def learn(self) -> float:
        candidates = self.search.ask()
        scores = self.players.play(candidates * self.family.scale, self.draw())
        losses = np.array([score.loss for score in scores])
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
        (score,) = self.players.play(self.mean[np.newaxis], self.validation)
        if score.loss >= self.best.loss:
            return False
        self.best = score
        card = {
            **self.facts,
            "epoch": self.epoch,
            "validation": {name: math.expm1(v) for name, v in score._asdict().items()},
        }
        save_checkpoint(self.folder, Checkpoint(self.config.family, {"weights": self.mean}, card))
        return True
