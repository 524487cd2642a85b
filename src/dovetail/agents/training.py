"""Training by evolution on a cluster's own history: resumable, interruptible, validated.

    train(trace, cluster, Path("model"), TrainingConfig(epochs=100), report=print)

The last tenth of the trace is never looked at. Of the rest, the first eight ninths make the
episodes, the last ninth the validation by which the best network is chosen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.agents.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from dovetail.agents.engines import Engine, Team
from dovetail.agents.episodes import Episode, make_episodes
from dovetail.agents.evolution import Evolution
from dovetail.agents.history import divide, facts
from dovetail.agents.models import evolved_arrays
from dovetail.agents.players import Players
from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.trace import Trace
from dovetail.policies.ordering.learned import learned, untrained

SEARCH_FILE = "search.npz"


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How long and on what to train; stored with the checkpoint."""

    epochs: int = 200
    population: int = 16
    batch: int = 8  # episodes that every candidate of an epoch plays
    episodes: int = 48
    validation_episodes: int = 16
    length: int = 1500  # jobs of an episode
    estimates: str = "noisy:1"
    spread: float = 0.1
    validate_every: int = 5
    patience: int = 20  # validations without improvement
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "episodes", "validation_episodes", "length", "patience"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected 1 or more")
        if self.population < 4:
            raise ConfigError(f"population is {self.population}, expected 4 or more")


@dataclass(frozen=True, slots=True)
class Progress:
    """One epoch: losses are logarithms of ratios to the best heuristic, below 0 is better."""

    epoch: int
    epochs: int
    loss: float
    validation: float  # of the best network so far

    def __str__(self) -> str:
        gap = math.expm1(self.validation)
        word = "better" if gap < 0 else "worse"
        return f"epoch {self.epoch}/{self.epochs}: {abs(gap):.1%} {word} than the best heuristic"


def train(
    trace: Trace,
    cluster: Cluster,
    folder: Path,
    config: TrainingConfig,
    report: Callable[[Progress], None] = lambda progress: None,
    workers: int = 1,
    engine: Engine = Players,
) -> Checkpoint:
    """Train, or go on where an earlier call with the same configuration stopped.

    Ctrl-C ends the training after saving; the best network so far is in the folder.
    """
    parts = divide(trace, config.length)
    validation = make_episodes(
        parts.validation, cluster, config.validation_episodes,
        min(config.length, len(parts.validation)), config.seed + 1, config.estimates,
    )  # fmt: skip
    episodes = make_episodes(
        parts.learning, cluster, config.episodes, config.length, config.seed, config.estimates
    )
    if not episodes or not validation:
        raise ConfigError(
            f"{trace.name} on {cluster.name}: jobs hardly wait, there is nothing to learn; "
            "try a smaller cluster"
        )
    run = _Run(folder, config, facts("evolution", config, trace, cluster, parts.known), validation)
    run.resume()
    with engine(episodes, workers) as players:
        run.go_on(players, len(episodes), report)
    return load_checkpoint(folder)


class _Run:
    """The state of a training: the search, the best network, and their files."""

    def __init__(
        self,
        folder: Path,
        config: TrainingConfig,
        facts: dict[str, Any],
        validation: list[Episode],
    ) -> None:
        self.folder, self.config, self.facts, self.validation = folder, config, facts, validation
        self.search = Evolution(
            untrained(config.seed), config.spread, config.population, config.seed
        )
        self.epoch, self.best, self.stale = 0, math.inf, 0

    def resume(self) -> None:
        """Take up an earlier search of the same configuration; another one is an error."""
        path = self.folder / SEARCH_FILE
        if not path.exists():
            self.validate()  # SAF itself is the network to beat
            return
        with np.load(path, allow_pickle=False) as found:
            about = json.loads(str(found["about"]))
            if about["facts"] != json.loads(json.dumps(self.facts)):
                raise ConfigError(
                    f"{self.folder} holds a training with other settings; choose another --out"
                )
            for name in ("mean", "variance", "path", "scale_path"):
                setattr(self.search, name, found[name])
        self.search.spread = about["spread"]
        self.search.random.bit_generator.state = about["random"]
        self.epoch, self.best, self.stale = about["epoch"], about["best"], about["stale"]

    def save_search(self) -> None:
        about = {
            "facts": self.facts,
            "spread": self.search.spread,
            "random": self.search.random.bit_generator.state,
            "epoch": self.epoch,
            "best": self.best,
            "stale": self.stale,
        }
        arrays = {n: getattr(self.search, n) for n in ("mean", "variance", "path", "scale_path")}
        path = self.folder / SEARCH_FILE
        temporary = path.with_suffix(".part.npz")
        np.savez(temporary, about=np.array(json.dumps(about)), **arrays)
        temporary.replace(path)

    def go_on(self, players: Team, episodes: int, report: Callable[[Progress], None]) -> None:
        config = self.config
        try:
            while self.epoch < config.epochs and self.stale < config.patience:
                chosen = np.random.default_rng((config.seed, self.epoch)).permutation(episodes)
                candidates = self.search.ask()
                losses = players.play(candidates, chosen[: config.batch].tolist())
                self.search.tell(candidates, losses)
                self.epoch += 1
                if self.epoch % config.validate_every == 0 or self.epoch == config.epochs:
                    self.validate()
                    self.save_search()
                report(Progress(self.epoch, config.epochs, float(np.mean(losses)), self.best))
        except KeyboardInterrupt:
            self.save_search()

    def validate(self) -> None:
        """Keep the mean of the search if it is the best on episodes that it never played."""
        ordering = learned(self.search.mean, "candidate")
        loss = float(np.mean([episode.score(ordering) for episode in self.validation]))
        self.stale += 1
        if loss < self.best:
            self.best, self.stale = loss, 0
            card = {**self.facts, "epoch": self.epoch, "validation_log_ratio": loss}
            arrays = evolved_arrays(self.search.mean)
            save_checkpoint(self.folder, Checkpoint("evolution", arrays, card))
