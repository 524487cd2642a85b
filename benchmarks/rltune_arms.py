"""The arms of the comparison of trainings: how each is configured, and where it is kept.

train_arm("evolution", 3, site, history, choice)      # goes on where an earlier call stopped
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dovetail.agents.catalogue import ChoiceConfig
from dovetail.agents.choice.cells import SiteHistory
from dovetail.agents.evolution.training import TrainingConfig
from dovetail.agents.evolution.training import learn as evolve
from dovetail.agents.history import Site
from dovetail.agents.rltune.config import RltuneConfig
from dovetail.agents.training import LEARNING, train
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint
from dovetail.policies.learned.families import FAMILIES

MODELS = Path(__file__).parent / "models"
ARMS = ("choice", "evolution", "forecast", "ppo", "dense")
SEEDS = 5

EVOLUTION: dict[str, Any] = {"epochs": 8, "population": 8, "batch": 4, "replays": 6,
                             "length": 12_000}  # fmt: skip
PPO: dict[str, Any] = {"epochs": 12, "episodes_per_epoch": 50, "windows": 128,
                       "validate_every": 3}  # fmt: skip
"""A quarter and a sixteenth of the usual sizes: five seeds on six traces are ninety trainings."""


def train_arm(
    arm: str, seed: int, site: Site, history: SiteHistory, choice: Mapping[str, Any] | None
) -> Path:
    """The folder of what was trained; learners all begin with the same choice."""
    folder = MODELS / site.trace.name / f"{arm}-{seed}"
    began = time.perf_counter()
    learner: Any = None
    config: Any = ChoiceConfig(seed=seed)
    if arm == "evolution":
        learner, config = evolve, TrainingConfig(seed=seed, **EVOLUTION)
    elif arm == "forecast":  # three more weights: how sure a prediction is
        learner = evolve
        config = TrainingConfig(family="forecast-index", seed=seed, **EVOLUTION)
    elif arm in ("ppo", "dense"):
        from dovetail.agents.rltune.training import learn

        own = {"metric": "wait", "dense": 1.0} if arm == "dense" else {"start": "random"}
        learner, config = learn, RltuneConfig(seed=seed, **PPO, **own)
    train(arm, learner, [site], folder, config, histories=[history], choice=choice)
    say(f"{site.trace.name}, {arm} {seed}: {time.perf_counter() - began:.0f} s")
    return folder


def ungated(folder: Path) -> Path:
    """What was learned, whatever the gate said of it; without a learner, the choice."""
    return folder / LEARNING if (folder / LEARNING).exists() else folder


def hand_set(site: Site) -> Path:
    """The index as it was set by hand, told what is usual."""
    path, family = MODELS / site.trace.name / "hand-set", FAMILIES["index"]
    save_checkpoint(path, Checkpoint("index", {"weights": family.start}, {"agent": "hand-set"}))
    return path


def say(text: object) -> None:
    print(text, file=sys.stderr, flush=True)
