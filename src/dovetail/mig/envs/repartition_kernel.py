"""Worlds of sliced GPUs side by side, each with its matrix of transitions (see `MeanField`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Floats
from dovetail.mig.envs.placement_kernel import MigStage, score_day, start_day
from dovetail.mig.metrics import MINUTE
from dovetail.mig.simulator.engine import play
from dovetail.mig.simulator.events import joules
from dovetail.mig.simulator.mean_field import draw_all, show
from dovetail.mig.simulator.rows import MigWorld


class RepartitionSettings(NamedTuple):
    """What is the same in all environments."""

    rank: Any
    parameters: Floats
    ways: int
    every: int
    most_likely: int
    energy_weight: float  # minutes of mean tardiness for a W·min


@kernel
def reset_repartition(
    stage: MigStage, settings: RepartitionSettings, first: int, last: int
) -> None:
    for i in range(first, last):
        _begin(stage, settings, i)


@kernel
def step_repartition(
    stage: MigStage, settings: RepartitionSettings, logits: Floats, first: int, last: int
) -> None:
    """Let every GPU draw its next way, and go on to the next decision."""
    for i in range(first, last):
        w = stage.worlds[i]
        before = _cost(w, settings.energy_weight)
        draw_all(w, logits[i], settings.most_likely)
        stage.dones[i] = not _go_on(w, settings)
        stage.rewards[i] = before - _cost(w, settings.energy_weight)
        if stage.dones[i]:
            score_day(stage, i, joules(w) / MINUTE)
            _begin(stage, settings, i)
        else:
            show(w, settings.ways, stage.seen[i])


@inner
def _begin(stage: MigStage, settings: RepartitionSettings, i: int) -> None:
    start_day(stage, i)
    _go_on(stage.worlds[i], settings)
    show(stage.worlds[i], settings.ways, stage.seen[i])


@inner
def _go_on(w: MigWorld, settings: RepartitionSettings) -> bool:
    return play(w, settings.rank, settings.parameters, w.events + settings.every)


@inner
def _cost(w: MigWorld, weight: float) -> float:
    """ET so far; a job counts once it has ended."""
    tardiness = w.tardiness / MINUTE / w.job_count
    return (tardiness + weight * joules(w) / MINUTE) / (1.0 + weight)
