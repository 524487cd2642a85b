"""What lets examples that learn for minutes run in a second: the same calls, the least settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dovetail.agents.catalogue import ChoiceConfig
from dovetail.agents.choice.candidates import reference
from dovetail.agents.choice.cells import (
    CellConfig,
    choice_cells,
    number_cells,
    open_history,
)
from dovetail.agents.history import Site
from dovetail.agents.players import LocalPlayers
from dovetail.agents.ppo.config import PpoConfig
from dovetail.agents.ppo.networks import KernelActor, QueueCritic
from dovetail.agents.rltune.config import RltuneConfig
from dovetail.agents.training import Lesson
from dovetail.envs import QueuePriorityVector
from dovetail.envs.visible_jobs import SHOWN
from dovetail.mig.agents.control_config import ControlTraining
from dovetail.mig.agents.placement_config import MIG_DAY, PlacementTraining
from dovetail.mig.agents.published_control import PublishedTraining
from dovetail.mig.agents.slot_network import SlotNetwork, save_slots
from dovetail.mig.agents.slot_training import SlotTraining
from dovetail.mig.envs.config import MigPlacementConfig
from dovetail.mig.envs.days import MigDays
from dovetail.mig.envs.placement_batch import MigPlacementBatch
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.workload.seeds import EvaluationDays
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint
from dovetail.policies.learned.families import FAMILIES
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of
from tests.envs.scenes import small_pool

Names = dict[str, Any]

CONTROL: Names = {
    "cluster": "2xa100-40:19", "rate": 5.0, "hours": 1.0, "days": 2, "validation_days": 1,
    "epochs": 1, "population": 4, "batch": 1, "validate_every": 1,
}  # fmt: skip
HOURS = MigPlacementConfig(MigDays(hours=1.0), MigCluster.parse("2xa100-40:2,12"), pool=2)


def _site() -> Site:
    """A history with a queue in its validation part."""
    trace = synthesize(WORKLOADS["helios"], jobs=1000, seed=2, load=1.1, cluster_gpus=64)
    return Site(trace, cluster_of("8x8"))


def _training(folder: Path) -> Names:
    return {**_choice(folder), "config": ChoiceConfig(estimates="exact", longest=50)}


def _choice(folder: Path) -> Names:
    return {
        "trace": _site().trace,
        "cluster": _site().cluster,
        "Site": Site,
        "open_history": lambda site, estimates: open_history(site, "exact"),
        "CellConfig": lambda estimates: CellConfig("exact", longest=50, loads=(1.0,), jitters=1),
        "choice_cells": choice_cells,
        "LocalPlayers": LocalPlayers,
        "number_cells": number_cells,
        "print": lambda *said: None,
    }


def _ppo(folder: Path) -> Names:
    pool = small_pool()
    seen = QueuePriorityVector(2, pool=pool)
    spaces = seen.single_observation_space.spaces  # type: ignore[attr-defined]
    return {
        "environments": seen,
        "actor": KernelActor(spaces["jobs"].shape[1]),
        "critic": QueueCritic(SHOWN, spaces["critic"].shape[1]),
        "epochs": 1,
    }


def _rltune(folder: Path) -> Names:
    history = open_history(_site(), "exact")
    told = Lesson([history], reference("exact"), folder / "learning", print, 1, LocalPlayers)

    def small(**settings: Any) -> RltuneConfig:
        return RltuneConfig(
            epochs=1, episodes_per_epoch=2, length=32, windows=2,
            environments=2, validate_every=1, ppo=PpoConfig(minibatch=64), **settings,
        )  # fmt: skip

    return {"lesson": told, "RltuneConfig": small}


def _ragged(folder: Path) -> Names:
    mask = np.ones((2, 4), np.int8)
    seen = {"jobs": np.zeros((2, 3, 5), np.float32), "critic": np.zeros((2, 3, 2), np.float32)}
    return {"seen": {**seen, "mask": mask}, "actor": lambda given: torch.zeros(len(given.rows))}


def _control(folder: Path) -> Names:
    return {"ControlTraining": lambda: ControlTraining(**CONTROL), "weight": 1e-4}


def _placement(folder: Path) -> Names:
    small = PlacementTraining(
        epochs=1, population=4, batch=1, days=1, validation_days=1, hours=1.0, validate_every=1
    )
    return {"PlacementTraining": lambda: small, "EvaluationDays": _one_day}


def _published(folder: Path) -> Names:
    small = PublishedTraining(
        ControlTraining(**CONTROL), updates=1, environments=2, steps=8, hidden=4, minibatch=8,
        validate_every=1,
    )  # fmt: skip
    return {"PublishedTraining": lambda: small}


def _slots(folder: Path) -> Names:
    """A network for the published cluster that says the same of every slot."""
    config = MigPlacementConfig(MigDays(hours=1.0), MigCluster.parse(MIG_DAY), pool=1)
    batch = MigPlacementBatch(config, count=1)
    layer = np.zeros((batch.seen.shape[1], batch.actions)), np.zeros(batch.actions)
    save_slots(folder / "model", SlotNetwork("even", (layer,), "tanh"), {})
    return {"EvaluationDays": _one_day, "MIG_DAY": MIG_DAY}


def _slot_training(folder: Path) -> Names:
    small = SlotTraining(
        steps=64, environments=2, layers=(8,), rollout=32, batch=32, passes=1, environment=HOURS
    )
    return {"SlotTraining": lambda steps: small, "save_slots": save_slots}


def _unseen(folder: Path) -> Names:
    return {"EvaluationDays": _one_day}


def _models(folder: Path) -> Names:
    vector = FAMILIES["index"].start
    checkpoints = [folder / name for name in ("first", "second")]
    for checkpoint in checkpoints:
        save_checkpoint(checkpoint, Checkpoint("index", {"weights": vector}, {"agent": "test"}))
    return {"folder": folder / "models", "checkpoints": checkpoints}


def _one_day(first: int, count: int) -> EvaluationDays:
    return EvaluationDays(first, 1)


SMALL: dict[str, Callable[[Path], Names]] = {
    "agents.training": _training,
    "agents.choice.halving": _choice,
    "agents.ppo.learner": _ppo,
    "agents.ppo.ragged": _ragged,
    "agents.rltune.training": _rltune,
    "mig.agents.catalogue": lambda folder: {"settings": CONTROL},
    "mig.agents.control_training": _control,
    "mig.agents.placement_training": _placement,
    "mig.agents.published_control": _published,
    "mig.agents.slot_network": _slots,
    "mig.agents.slot_training": _slot_training,
    "mig.evaluation.unseen": _unseen,
    "models": _models,
}
"""What stands for a module's own names in its examples."""
