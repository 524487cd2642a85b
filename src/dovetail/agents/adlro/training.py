"""Trains ADLRO's network on drawn episodes and keeps the best on episodes it has not seen."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import nn

from dovetail.agents.adlro.evaluation import PlayedEpisodes, play_pool
from dovetail.agents.adlro.heuristics import Assigner, earliest_finish
from dovetail.agents.adlro.networks import NETWORKS
from dovetail.agents.dqn.config import DqnConfig
from dovetail.agents.dqn.learner import DqnLearner, DqnProgress, greedy
from dovetail.envs.gpu_assignment.batch import AssignmentPool, GpuAssignmentBatch
from dovetail.envs.gpu_assignment.config import GpuAssignmentConfig

TRAINING_SEEDS = range(256)
VALIDATION_SEEDS = range(5_000, 5_020)
TEST_SEEDS = range(10_000, 10_020)
"""Episodes that no training sees."""


@dataclass(frozen=True)
class AdlroConfig:
    """What is trained on what."""

    network: str = "pairs"
    task: GpuAssignmentConfig = field(default_factory=GpuAssignmentConfig)
    dqn: DqnConfig = field(default_factory=DqnConfig)
    looks: int = 10  # times that the network is tried on validation episodes


def train_adlro(
    config: AdlroConfig, report: Callable[[DqnProgress], None] = lambda progress: None
) -> nn.Module:
    """The network as it was when it did best on validation episodes."""
    torch.set_num_threads(1)
    pool = AssignmentPool(config.task, TRAINING_SEEDS)
    batch = GpuAssignmentBatch(pool, config.dqn.environments)
    held_back = AssignmentPool(config.task, VALIDATION_SEEDS)

    def build() -> nn.Module:
        return NETWORKS[config.network](config.task, config.dqn.duelling)

    learner = DqnLearner(build, batch, config.dqn, earliest_finish(config.task))
    best = [(_validate(held_back, learner.online), copy.deepcopy(learner.online.state_dict()))]
    every = max(1, config.dqn.steps // config.looks)

    def look(progress: DqnProgress) -> None:
        report(progress)
        if progress.steps // every >= len(best) or progress.steps >= progress.of:
            time = _validate(held_back, learner.online)
            best.append((time, copy.deepcopy(learner.online.state_dict())))

    learner.train(look)
    learner.online.load_state_dict(min(best, key=lambda pair: pair[0])[1])
    return learner.online


def _validate(held_back: AssignmentPool, network: nn.Module) -> float:
    return float(play_pool(held_back, by_network(network)).completion_time.mean())


def by_network(network: nn.Module) -> Assigner:
    """The network's best valid action."""
    return lambda seen: greedy(network, seen)


def at_size(config: GpuAssignmentConfig, factor: int) -> GpuAssignmentConfig:
    """The same task on so many times as many GPUs, with as many times the jobs."""
    gpus = {name: count * factor for name, count in config.gpus.items()}
    return replace(config, gpus=gpus, jobs=config.jobs * factor)


def gain(ours: PlayedEpisodes, theirs: PlayedEpisodes) -> float:
    """By how much mean completion time is shorter."""
    return 1.0 - float(np.mean(ours.completion_time) / np.mean(theirs.completion_time))
