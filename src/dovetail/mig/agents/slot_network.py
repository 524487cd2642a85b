"""The published kind of placement: a network over the whole cluster with one output per slot.

    rows = evaluate_slots({"ppo": load_slots(Path("model"))}, MIG_DAY, EvaluationDays(0, 10))

It is bound to the cluster that it was trained on. NumPy is enough to use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.registry import Registry
from dovetail.mig.agents.scores import DayScore, PlayedDays
from dovetail.mig.envs.config import MigPlacementConfig
from dovetail.mig.envs.days import GivenDays
from dovetail.mig.envs.placement_batch import MigPlacementBatch
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.workload.day import RATE, RELAXED
from dovetail.mig.workload.seeds import EvaluationDays
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from dovetail.policies.learned.models import Arrays

Layer = tuple[Floats, Floats]
"""Weights [inputs, outputs] and biases."""

ACTIVATIONS: Registry[Any] = Registry(
    "activation", {"tanh": np.tanh, "relu": lambda values: np.maximum(values, 0.0)}
)


@dataclass(frozen=True, slots=True)
class SlotNetwork:
    """The valid slot with the highest output is taken."""

    name: str
    layers: tuple[Layer, ...]
    activation: str  # one of ACTIVATIONS; the last layer has none

    def scores(self, seen: NDArray[Any], mask: NDArray[Any]) -> Floats:
        """[environments, slots]; slots that are not valid are at -inf."""
        values = seen.astype(np.float64)
        for number, (weights, biases) in enumerate(self.layers):
            values = values @ weights + biases
            if number < len(self.layers) - 1:
                values = ACTIVATIONS[self.activation](values)
        return np.where(mask > 0, values, -np.inf)

    def refuse_other(self, width: int, actions: int, cluster: str) -> None:
        """Raise unless it has an input for all that is seen and an output for each action."""
        if (len(self.layers[0][0]), len(self.layers[-1][1])) != (width, actions):
            raise ConfigError(f"{self.name} was trained on another cluster than {cluster}")

    def choose(self, seen: NDArray[Any], mask: NDArray[Any]) -> Ints:
        chosen: Ints = np.argmax(self.scores(seen, mask), axis=1)
        return chosen

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As a checkpoint holds it."""
        found: dict[str, NDArray[Any]] = {"activation": np.array(self.activation)}
        for number, (weights, biases) in enumerate(self.layers):
            found[f"weights{number}"], found[f"biases{number}"] = weights, biases
        return found

    @classmethod
    def read(cls, arrays: Arrays, name: str) -> SlotNetwork:
        """From the arrays of a checkpoint."""
        try:
            layers = tuple(
                (arrays[f"weights{i}"].astype(np.float64), arrays[f"biases{i}"].astype(np.float64))
                for i in range(max(1, (len(arrays) - 1) // 2))
            )
            activation = str(arrays["activation"])
            ACTIVATIONS[activation]
            _check_layers(layers)
        except (KeyError, ValueError) as problem:
            raise ConfigError(f"{name}: not a network over slots: {problem}") from problem
        return cls(name, layers, activation)


def _check_layers(layers: tuple[Layer, ...]) -> None:
    """Raise unless the outputs of each layer are the inputs of the next, all of them numbers."""
    inputs = layers[0][0].shape[0] if layers[0][0].ndim == 2 else 0
    for number, (weights, biases) in enumerate(layers):
        if biases.ndim != 1 or inputs == 0 or weights.shape != (inputs, len(biases)):
            raise ValueError(f"layer {number} has shapes {weights.shape} and {biases.shape}")
        if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
            raise ValueError(f"layer {number} has weights that are not finite")
        inputs = len(biases)


def slots(arrays: Arrays, name: str) -> SlotNetwork:
    """A network over the whole cluster with one output per slot, for one cluster only."""
    return SlotNetwork.read(arrays, name)


SLOT_MODELS = Registry("kind of network over slots", {"mig-slots": slots})


def save_slots(folder: Path, network: SlotNetwork, card: Mapping[str, Any]) -> None:
    """Write a checkpoint."""
    checkpoint = Checkpoint("mig-slots", network.arrays(), card)
    save_checkpoint(folder, checkpoint, SLOT_MODELS, use="--network FOLDER")


def load_slots(folder: Path) -> SlotNetwork:
    found = load_checkpoint(folder, SLOT_MODELS)
    return SLOT_MODELS[found.kind](found.arrays, str(folder))


TEN = EvaluationDays(0, 10)


def evaluate_slots(
    policies: Mapping[str, SlotNetwork],
    cluster: str,
    chosen: EvaluationDays = TEN,
    slack: tuple[float, float] = RELAXED,
    rate: float = RATE,
    hours: float = 24.0,
) -> list[dict[str, Any]]:
    """A row per network and day, as `evaluate_placement` gives them."""
    days = PlayedDays.of(cluster, chosen, slack, rate, hours).workloads
    config = MigPlacementConfig(GivenDays(days), MigCluster.parse(cluster), pool=len(days))
    batch = MigPlacementBatch(config, count=len(days))
    rows: list[dict[str, Any]] = []
    for name, policy in policies.items():
        policy.refuse_other(batch.seen.shape[1], batch.actions, cluster)
        scores = play_days(batch, policy)
        for seed, day, score in zip(chosen.seeds, days, scores.tolist(), strict=True):
            # The environment's mean is over jobs that ended: all of them, here.
            rows.append(
                {"placer": name, "seed": seed, "jobs": len(day), **DayScore(*score)._asdict()}
            )
    return rows


def play_days(batch: MigPlacementBatch, policy: SlotNetwork) -> Floats:
    """[days, 3] how each day of the pool went, one environment a day."""
    scores = np.full((batch.count, 3), np.nan)
    batch.begin({"day": np.arange(batch.count)})
    while np.isnan(scores).any():
        batch.step(policy.choose(batch.seen, batch.mask))
        first = batch.dones & np.isnan(scores[:, 0])
        scores[first] = batch.stage.scores[first]
    return scores
