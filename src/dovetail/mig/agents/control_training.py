"""Learning to cut GPUs, to place on slices, or both, by evolution on whole days: resumable.

    train_repartition(ControlTraining(), Path("model"), report=print)
    train_joint(ControlTraining(), Path("joint"), report=print)
    rows = evaluate(load_control(Path("joint"))[0], ControlTraining().cluster, days, weight)

What is lowered is ET itself, over days, as a share of what the cluster costs under
categorical-edf if it stays as it is cut at first. The joint control is learned in turns: how the
GPUs are cut, then how jobs are placed on that, then both at once. The last turn looks closer: half
the spread and twice the days, from the best vector so far.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from dovetail.agents.evolution.search import Evolution
from dovetail.agents.evolution.search_file import load_search, refuse_damage, save_search
from dovetail.agents.training_run import FixedSchedule, TrainingRun
from dovetail.domain.jobs import Floats
from dovetail.mig.agents.control_config import ControlTraining, balanced_weight, costs
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.metrics import energy_tardiness
from dovetail.mig.policies.learned.control import (
    BOTH,
    CONTROL_MODELS,
    CONTROLS,
    PARTS,
    STATIC_PLACER,
    Control,
    MigPolicy,
    load_control,
)
from dovetail.mig.simulator import MigRules
from dovetail.mig.simulator.day_runner import DayRunner
from dovetail.mig.workload.jobs import MigWorkload
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint


@dataclass(frozen=True, slots=True)
class ControlProgress:
    """One epoch; costs are shares of the static cluster's."""

    epoch: int
    epochs: int
    turn: str
    cost: float  # mean of the candidates
    best: float  # of the best vector so far, on days that it did not learn from

    def __str__(self) -> str:
        return f"epoch {self.epoch}/{self.epochs} ({self.turn}): ET {self.best - 1:+.1%}"


Report = Callable[[ControlProgress], None]


def train_repartition(
    config: ControlTraining, folder: Path, report: Report = lambda progress: None
) -> Checkpoint:
    """Learn how GPUs are cut, with categorical-edf below."""
    return _train(CONTROLS["repartition"], (BOTH, BOTH), config, folder, report)


def train_placement_on_static(
    config: ControlTraining, folder: Path, report: Report = lambda progress: None
) -> Checkpoint:
    """Learn placements alone, by the same measure: what a joint control is compared with."""
    return _train(CONTROLS["placement"], (BOTH, BOTH), config, folder, report)


def train_joint(
    config: ControlTraining,
    folder: Path,
    report: Report = lambda progress: None,
    begin: Path | None = None,
) -> Checkpoint:
    """Learn both, in turn and then together; `begin` is a control that was learned before.

    The parts that it has need no turn of their own.
    """
    control = CONTROLS["joint"]
    found = {} if begin is None else load_control(begin)[1].arrays
    turns = (*(part for part in control.parts if part not in found), BOTH)
    start = {name: np.asarray(found[name]) for name in control.parts if name in found}
    return _train(control, turns, config, folder, report, start)


def evaluate(
    policy: MigPolicy, cluster: str, days: Sequence[MigWorkload], weight: float, seed: int = 0
) -> list[dict[str, float]]:
    """A row for each day: share of late jobs, mean tardiness (minutes), energy (W·min), ET."""
    with DayRunner(MigCluster.parse(cluster), days, MigRules()) as runner:
        scores = runner.play(policy.placer, policy.field, seed=seed)
    return [
        {
            "late_share": late,
            "tardiness_mean": tardiness,
            "energy_watt_minutes": energy,
            "energy_tardiness": energy_tardiness(tardiness, energy, weight),
        }
        for late, tardiness, energy in scores.tolist()
    ]


def _train(
    control: Control, turns: tuple[str, ...], config: ControlTraining, folder: Path, report: Report,
    start: Mapping[str, Floats] = MappingProxyType({}),
) -> Checkpoint:  # fmt: skip
    """Every epoch is saved; the best vector so far is in the folder."""
    vector = np.concatenate([start.get(name, PARTS[name].start) for name in control.parts])
    run = _ControlRun(control, turns, config, folder, vector)
    run.go_on(report)
    run.save_best()  # the card tells how long all of it took
    return load_control(folder)[1]


class _ControlRun(TrainingRun[ControlProgress]):
    """The state of a training: the search of the present turn, the best vector, their files."""

    def __init__(
        self,
        control: Control,
        turns: tuple[str, ...],
        config: ControlTraining,
        folder: Path,
        start: Floats,
    ) -> None:
        facts = {
            "control": control.name,
            "turns": list(turns),
            "config": asdict(config),
            "start_digest": hashlib.sha256(start.tobytes()).hexdigest()[:16],
        }
        epochs = config.epochs * len(turns)
        super().__init__(folder, FixedSchedule(epochs, config.validate_every), facts)
        self.control, self.turns, self.config = control, turns, config
        cluster = MigCluster.parse(config.cluster)
        self.learning, self.choosing = (
            DayRunner(cluster, days, MigRules(), estimates=config.told(days))
            for days in (config.learning_days(), config.choosing_days())
        )
        static = self.learning.play(STATIC_PLACER, None)
        self.weight = balanced_weight(static)
        self.static = costs(static, self.weight)
        self.chosen_static = costs(self.choosing.play(STATIC_PLACER, None), self.weight)
        self.best, self.best_epoch, self.seconds = math.inf, 0, 0.0
        self.learned_turn = turns[0]  # of the last epoch
        self.vector = self.best_vector = start
        self._begin_turn()

    @property
    def turn(self) -> str:
        return self.turns[min(self.epoch, self.schedule.epochs - 1) // self.config.epochs]

    @property
    def closer(self) -> int:
        """2 in the last turn of several, 1 before."""
        last = self.epoch >= self.config.epochs * (len(self.turns) - 1)
        return 2 if last and len(self.turns) > 1 else 1

    def _begin_turn(self) -> None:
        """A new search from the best vector so far, over the numbers that this turn learns."""
        self.varied = np.flatnonzero(self.control.learns(self.turn))
        self.vector = self.best_vector.copy()
        config, scale = self.config, self.control.scale[self.varied]
        self.search = Evolution(
            self.vector[self.varied] / scale,
            config.spread / self.closer,
            config.population,
            config.seed + self.epoch,
        )

    def full(self, part: Floats) -> Floats:
        """The vector in which this turn's numbers are these, in units of their scales."""
        vector = self.vector.copy()
        vector[self.varied] = part * self.control.scale[self.varied]
        return vector

    def policy(self, vector: Floats) -> MigPolicy:
        return self.control.policy(vector, "candidate", self.config.every, self.config.most_likely)

    def progress(self, loss: float) -> ControlProgress:
        return ControlProgress(self.epoch, self.schedule.epochs, self.learned_turn, loss, self.best)

    def learn(self) -> float:
        """One epoch: every candidate plays the same days, with the same luck."""
        began, self.learned_turn = time.process_time(), self.turn
        if self.epoch and self.epoch % self.config.epochs == 0:
            self._begin_turn()
        random = np.random.default_rng((self.config.seed, self.epoch))
        days = random.permutation(self.learning.count)[: self.config.batch * self.closer].tolist()
        candidates = self.search.ask()
        losses = np.array(
            [
                self.cost(self.learning, self.full(row), self.static, days, self.epoch)
                for row in candidates
            ]
        )
        self.search.tell(candidates, losses)
        self.seconds += time.process_time() - began
        return float(losses.mean())

    def cost(
        self, runner: DayRunner, vector: Floats, static: Floats, days: list[int], seed: int
    ) -> float:
        placer, field = self.policy(vector)
        scores = runner.play(placer, field, chosen=days, seed=seed)
        return float(costs(scores, self.weight).sum() / static[days].sum())

    def keep_if_best(self) -> bool:
        """The mean of the search, on days that it did not learn from."""
        began, vector = time.process_time(), self.full(self.search.mean)
        days = list(range(self.choosing.count))
        cost = self.cost(self.choosing, vector, self.chosen_static, days, 0)
        self.seconds += time.process_time() - began
        if cost >= self.best:
            return False
        self.best, self.best_vector, self.best_epoch = cost, vector, self.epoch
        self.save_best()
        return True

    def save_best(self) -> None:
        asked = np.array([self.config.every, self.config.most_likely], np.float64)
        card = {
            **self.facts,
            "epoch": self.best_epoch,
            "energy_weight": self.weight,
            "validation_et_of_static": self.best,
            "cpu_seconds": round(self.seconds, 1),
        }
        arrays = {"asked": asked, **self.control.split(self.best_vector)}
        save_checkpoint(
            self.folder, Checkpoint("mig-control", arrays, card), CONTROL_MODELS, "--control FOLDER"
        )

    def resume(self) -> bool:
        saved = load_search(self.folder, self.facts)
        if saved is None:
            return False
        about, size = saved.about, self.vector.shape
        with refuse_damage(saved.path):
            self.epoch, self.best = int(about["epoch"]), float(about["best"])
            self.seconds, self.best_epoch = float(about["seconds"]), int(about["best_epoch"])
            best = saved.arrays["best"].reshape(size)
            self.best_vector = saved.arrays["vector"].reshape(size)
            # The search belongs to the turn of the last epoch, also at the end of one.
            self.epoch -= 1
            self._begin_turn()
            self.epoch += 1
            self.best_vector = best
        saved.into(self.search)
        return True

    def save(self) -> None:
        about = {
            "facts": self.facts,
            "epoch": self.epoch,
            "best": self.best,
            "best_epoch": self.best_epoch,
            "seconds": self.seconds,
        }
        save_search(self.folder, self.search, about, best=self.best_vector, vector=self.vector)
