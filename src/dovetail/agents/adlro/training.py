"""Trains ADLRO's network on drawn episodes and keeps the best on episodes it has not seen."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import nn

from dovetail.agents.adlro.evaluation import play_pool
from dovetail.agents.adlro.heuristics import HEURISTICS, Assigner
from dovetail.agents.adlro.networks import NETWORKS
from dovetail.agents.adlro.steps import TypedSteps, encode
from dovetail.agents.dqn.config import DqnConfig
from dovetail.agents.dqn.learner import DqnLearner, DqnProgress, greedy
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Ints
from dovetail.envs.batch import Seen
from dovetail.envs.gpu_assignment.batch import AssignmentPool, GpuAssignmentBatch
from dovetail.envs.gpu_assignment.by_type import gpu_actions, type_choices
from dovetail.envs.gpu_assignment.config import GpuAssignmentConfig

VALIDATION_SEEDS = range(5_000, 5_040)
"""Those from 0 on are for training."""

TEST_SEEDS = range(10_000, 10_020)
"""Episodes that no training sees."""


@dataclass(frozen=True)
class AdlroConfig:
    """What is trained on what."""

    network: str = "pairs"
    task: GpuAssignmentConfig = field(default_factory=GpuAssignmentConfig)
    dqn: DqnConfig = field(default_factory=DqnConfig)
    guide: str = "index"  # the rule behind guided exploration
    looks: int = 20  # times that the network is tried on validation episodes
    episodes: int = 512  # that are drawn to learn from

    def __post_init__(self) -> None:
        if not 0 < self.episodes <= VALIDATION_SEEDS.start:
            raise ConfigError(
                f"episodes is {self.episodes}, expected 1 to {VALIDATION_SEEDS.start}: those after "
                "that are for validation"
            )


@dataclass(frozen=True)
class AdlroTraining:
    """The network as it was when it did best on validation episodes, and how it got there."""

    network: nn.Module
    start: float  # mean completion time on validation episodes before learning, in seconds
    looks: tuple[float, ...]  # the same at each look
    kept: int  # which look's network it is; 0: the start

    @property
    def best(self) -> float:
        return (self.start, *self.looks)[self.kept]


def train_adlro(
    config: AdlroConfig,
    report: Callable[[DqnProgress], None] = lambda progress: None,
    keep: Callable[[AdlroTraining], None] = lambda best: None,
) -> AdlroTraining:
    """Learn, look at validation episodes now and then, and keep the best, the start included.

    `keep` gets every best so far, so that an interruption loses nothing.
    """
    torch.set_num_threads(1)
    drawn = AssignmentPool(config.task, range(config.episodes))
    batch = GpuAssignmentBatch(drawn, config.dqn.environments)
    held_back = AssignmentPool(config.task, VALIDATION_SEEDS)
    rule = HEURISTICS[config.guide](config.task)
    learner = DqnLearner(
        lambda: NETWORKS[config.network](config.task, config.dqn.duelling),
        TypedSteps(batch, config.dqn.horizon),
        config.dqn,
        lambda: type_choices(batch.seen, rule(batch.seen)),
    )
    times: list[float] = []
    best: list[nn.Module] = []

    def validate() -> None:
        times.append(_validate(held_back, learner.target))
        if times[-1] == min(times):
            best[:] = [copy.deepcopy(learner.target)]
            keep(found())

    def found() -> AdlroTraining:
        return AdlroTraining(best[0], times[0], tuple(times[1:]), times.index(min(times)))

    def look(progress: DqnProgress) -> None:
        report(progress)
        if progress.steps * config.looks >= len(times) * progress.of:
            validate()

    validate()  # the start is what there is to beat
    learner.train(look)
    return found()


def _validate(held_back: AssignmentPool, network: nn.Module) -> float:
    return float(play_pool(held_back, by_network(network)).completion_time.mean())


def by_network(network: nn.Module) -> Assigner:
    """The network's best valid choice."""
    inputs: tuple[str, ...] = network.inputs  # type: ignore[assignment]

    def assign(seen: Seen) -> Ints:
        encoded = encode(seen)
        return gpu_actions(seen, greedy(network, {name: encoded[name] for name in inputs}))

    return assign


def at_size(config: GpuAssignmentConfig, factor: int) -> GpuAssignmentConfig:
    """The same task on so many times as many GPUs, with as many times the jobs."""
    gpus = {name: count * factor for name, count in config.gpus.items()}
    return replace(config, gpus=gpus, jobs=config.jobs * factor)
