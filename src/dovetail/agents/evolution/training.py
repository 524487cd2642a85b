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

from dovetail.agents.engines import Engine, Team
from dovetail.agents.evolution.players import Players
from dovetail.agents.evolution.replays import Replay, Score, make_replay, make_replays
from dovetail.agents.evolution.search import Evolution
from dovetail.agents.evolution.search_file import load_search, save_search
from dovetail.agents.history import Site, divide, facts
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
class Progress:
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
    report: Callable[[Progress], None] = lambda progress: None,
    workers: int = 1,
    engine: Engine = Players,
) -> Checkpoint:
    """Train, or go on where an earlier call with the same configuration stopped.

    KeyboardInterrupt is passed on after saving; the best candidate so far is in the folder.
    """
    replays = [_to_learn_from(site, config) for site in sites]
    validation = [replay for site in sites for replay in _to_choose_by(site, config)]
    counts = [len(of_site) for of_site in replays]
    run = _Run(folder, config, facts("evolution", config, sites), counts, len(validation))
    with engine([*chain(*replays), *validation], FAMILIES[config.family], workers) as players:
        run.resume(players)
        run.go_on(players, report)
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


class _Run:
    """The state of a training: the search, the best candidate, and their files."""

    def __init__(
        self,
        folder: Path,
        config: TrainingConfig,
        facts: dict[str, Any],
        counts: list[int],
        validation: int,
    ) -> None:
        self.folder, self.config, self.facts = folder, config, facts
        ends = np.cumsum([0, *counts]).tolist()
        self.replays = [range(begin, end) for begin, end in pairwise(ends)]  # of each site
        self.validation = range(ends[-1], ends[-1] + validation)
        self.family = FAMILIES[config.family]
        # In units of the family's scales, so that one spread suits all numbers.
        self.search = Evolution(
            self.family.start / self.family.scale, config.spread, config.population, config.seed
        )
        self.epoch, self.best, self.stale = 0, Score(math.inf, math.inf), 0

    @property
    def mean(self) -> Floats:
        return np.asarray(self.search.mean * self.family.scale)

    def resume(self, players: Team) -> None:
        """Take up an earlier search of the same configuration; another one is an error."""
        saved = load_search(self.folder, self.facts)
        if saved is None:
            self.validate(players)  # the start is what there is to beat
            return
        saved.into(self.search)
        about = saved.about
        self.epoch, self.best, self.stale = about["epoch"], Score(*about["best"]), about["stale"]

    def save_search(self) -> None:
        about = {
            "facts": self.facts,
            "epoch": self.epoch,
            "best": self.best,
            "stale": self.stale,
        }
        save_search(self.folder, self.search, about)

    def go_on(self, players: Team, report: Callable[[Progress], None]) -> None:
        config = self.config
        try:
            while self.epoch < config.epochs and self.stale < config.patience:
                candidates = self.search.ask()
                scores = players.play(candidates * self.family.scale, self.draw())
                losses = np.array([score.loss for score in scores])
                self.search.tell(candidates, losses)
                self.epoch += 1
                if self.epoch % config.validate_every == 0 or self.epoch == config.epochs:
                    self.validate(players)
                    self.save_search()
                report(Progress(self.epoch, config.epochs, float(losses.mean()), self.best))
        except KeyboardInterrupt:
            self.save_search()
            raise

    def draw(self) -> list[int]:
        """The replays of this epoch, as many of each site."""
        random = np.random.default_rng((self.config.seed, self.epoch))
        each = max(1, self.config.batch // len(self.replays))
        drawn = [random.permutation(of_site)[:each] for of_site in self.replays]
        return [int(number) for of_site in drawn for number in of_site]

    def validate(self, players: Team) -> None:
        """Keep the mean of the search if it is the best on jobs that it never replayed."""
        (score,) = players.play(self.mean[np.newaxis], self.validation)
        self.stale += 1
        if score.loss < self.best.loss:
            self.best, self.stale = score, 0
            card = {
                **self.facts,
                "epoch": self.epoch,
                "validation": {name: math.expm1(v) for name, v in score._asdict().items()},
            }
            arrays = {"weights": self.mean}
            save_checkpoint(self.folder, Checkpoint(self.config.family, arrays, card))
