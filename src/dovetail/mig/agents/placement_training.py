"""Learning placements on slices by evolution: whole days are played, what counts is measured.

    train_placement(PlacementTraining(), Path("model"), report=print)
    rows = evaluate_placement(["eft", "dovetail", "model"], EvaluationDays(0, 10))

Losses are shares of what earliest finish (`eft`) does on the same days. A training goes on where
an earlier call into the same folder stopped; Ctrl-C keeps the best prices so far.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.agents.evolution.search import Evolution
from dovetail.agents.evolution.search_file import load_search, refuse_damage, save_search
from dovetail.agents.training_run import FixedSchedule, TrainingRun
from dovetail.domain.jobs import Floats
from dovetail.mig.agents.placement_config import MIG_DAY, REFERENCE, PlacementTraining
from dovetail.mig.agents.scores import DayScore, PlayedDays
from dovetail.mig.policies import PLACERS
from dovetail.mig.policies.learned.placement import (
    PLACER_MODELS,
    WAITING_RULES,
    WEIGHTS,
    load_placement,
    placer_named,
)
from dovetail.mig.policy import Placer
from dovetail.mig.workload.day import RATE, RELAXED
from dovetail.mig.workload.estimates import EXACT
from dovetail.mig.workload.seeds import EvaluationDays, TrainingDays, ValidationDays
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint


@dataclass(frozen=True, slots=True)
class PlacementProgress:
    """One epoch; the scores are of the best prices so far, on the validation days."""

    epoch: int
    epochs: int
    loss: float
    validation: DayScore
    reference: DayScore  # eft on the same days

    def __str__(self) -> str:
        mine, other = self.validation, self.reference
        return (
            f"epoch {self.epoch}/{self.epochs}: late {mine.late_share:.1%} "
            f"({REFERENCE} {other.late_share:.1%}), energy {mine.energy / other.energy - 1:+.1%}"
        )


def train_placement(
    config: PlacementTraining,
    folder: Path,
    report: Callable[[PlacementProgress], None] = lambda progress: None,
) -> Checkpoint:
    """Train, or go on where an earlier call with the same configuration stopped."""
    _PlacementRun(config, folder).go_on(report)
    return load_placement(folder)


class _ClusterDays:
    """The days of one cluster, and what the reference does on them."""

    def __init__(self, config: PlacementTraining, cluster: str) -> None:
        learned = TrainingDays(config.seed, config.days)
        self.days = config.played(cluster, learned)
        chosen = ValidationDays(config.seed, config.validation_days)
        self.validation = config.played(cluster, chosen)
        self.reference = self.days.play(PLACERS[REFERENCE])
        self.validation_reference = self.validation.play(PLACERS[REFERENCE])


class _PlacementRun(TrainingRun[PlacementProgress]):
    """The state of a training: the search, the best prices, and their files."""

    def __init__(self, config: PlacementTraining, folder: Path) -> None:
        schedule = FixedSchedule(config.epochs, config.validate_every)
        super().__init__(folder, schedule, {"agent": "mig-placement", "config": asdict(config)})
        self.config, self.rule = config, WAITING_RULES[config.waiting_rule]
        self.sites = [_ClusterDays(config, cluster) for cluster in config.clusters]
        self.search = Evolution(
            self.rule.start / self.rule.scale, config.spread, config.population, config.seed
        )
        self.reference = _mean([site.validation_reference for site in self.sites])
        self.best, self.score, self.seconds = math.inf, self.reference, 0.0

    def placer(self, vector: Floats) -> Placer:
        return self.rule.placer(vector * self.rule.scale, "candidate")

    def resume(self) -> bool:
        saved = load_search(self.folder, self.facts)
        if saved is None:
            return False
        saved.into(self.search)
        about = saved.about
        with refuse_damage(saved.path):
            self.epoch, self.best = int(about["epoch"]), float(about["best"])
            self.seconds, self.score = float(about["seconds"]), DayScore(*about["score"])
        return True

    def save(self) -> None:
        about = {
            "facts": self.facts,
            "epoch": self.epoch,
            "best": self.best,
            "score": self.score,
            "seconds": self.seconds,
        }
        save_search(self.folder, self.search, about)

    def progress(self, loss: float) -> PlacementProgress:
        return PlacementProgress(self.epoch, self.config.epochs, loss, self.score, self.reference)

    def learn(self) -> float:
        """One epoch; all candidates play the same days."""
        began = time.perf_counter()
        drawn = np.random.default_rng((self.config.seed, self.epoch))
        chosen = [
            drawn.permutation(len(site.days))[: self.config.batch].tolist() for site in self.sites
        ]
        candidates = self.search.ask()
        losses = np.array([self.loss(candidate, chosen) for candidate in candidates])
        self.search.tell(candidates, losses)
        self.seconds += time.perf_counter() - began
        return float(losses.mean())

    def loss(self, vector: Floats, chosen: Sequence[Sequence[int]]) -> float:
        """Mean over clusters."""
        placer = self.placer(vector)
        return float(
            np.mean(
                [
                    self.config.loss(site.days.play(placer, days), site.reference[list(days)])
                    for site, days in zip(self.sites, chosen, strict=True)
                ]
            )
        )

    def keep_if_best(self) -> bool:
        """The mean of the search, on days that it never played."""
        began = time.perf_counter()
        placer = self.placer(self.search.mean)
        played = [site.validation.play(placer) for site in self.sites]
        loss = float(
            np.mean(
                [
                    self.config.loss(scores, site.validation_reference)
                    for scores, site in zip(played, self.sites, strict=True)
                ]
            )
        )
        self.seconds += time.perf_counter() - began
        if loss >= self.best:
            return False
        self.best, self.score = loss, _mean(played)
        self.keep()
        return True

    def keep(self) -> None:
        """Write the checkpoint of the search's mean."""
        weights = self.rule.weights(self.search.mean * self.rule.scale)
        card = {
            **self.facts,
            "epoch": self.epoch,
            "seconds": round(self.seconds, 1),
            "validation": self.score._asdict(),
            "validation_eft": self.reference._asdict(),
            "prices": {name: round(value, 4) for name, value in asdict(weights).items()
                       if math.isfinite(value)},
        }  # fmt: skip
        checkpoint = Checkpoint(
            f"mig-{self.rule.name}", {WEIGHTS: np.array(astuple(weights))}, card
        )
        save_checkpoint(self.folder, checkpoint, PLACER_MODELS, use="--placer FOLDER")


def _mean(scores: Sequence[Floats]) -> DayScore:
    return DayScore(*np.concatenate(scores).mean(axis=0).tolist())


TEN = EvaluationDays(0, 10)


def evaluate_placement(
    placers: Iterable[str | Placer],
    chosen: EvaluationDays = TEN,
    cluster: str = MIG_DAY,
    slack: tuple[float, float] = RELAXED,
    rate: float = RATE,
    estimates: str = EXACT,
) -> list[dict[str, Any]]:
    """A row per placement and day, paired by day; names as `placer_named` takes them."""
    days = PlayedDays.of(cluster, chosen, slack, rate, estimates=estimates)
    rows: list[dict[str, Any]] = []
    for given in placers:
        placer = placer_named(given) if isinstance(given, str) else given
        for seed, jobs, score in zip(
            chosen.seeds, map(len, days.workloads), days.play(placer).tolist(), strict=True
        ):
            rows.append(
                {"placer": placer.name, "seed": seed, "jobs": jobs, **DayScore(*score)._asdict()}
            )
    return rows
