"""Worlds of sliced GPUs side by side, each with its matrix of transitions (see `MeanField`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from dovetail.domain.compiled import inner, kernel
from dovetail.domain.jobs import Floats
from dovetail.domain.mig_metrics import MINUTE
from dovetail.envs.mig_stage import MigStage, score_day, start_day
from dovetail.simulator.mig.clock import joules
from dovetail.simulator.mig.engine import play
from dovetail.simulator.mig.mean_field import draw_all, show
from dovetail.simulator.mig.rows import MigWorld


class Manner(NamedTuple):
    """What is the same in all environments."""

    rank: Any
    parameters: Floats
    ways: int
    every: int
    most_likely: int
    energy_weight: float  # minutes of mean tardiness for a W·min


@kernel
def reset_repartition(stage: MigStage, manner: Manner, first: int, last: int) -> None:
    for i in range(first, last):
        _begin(stage, manner, i)


@kernel
def step_repartition(
    stage: MigStage, manner: Manner, logits: Floats, first: int, last: int
) -> None:
    """Let every GPU draw its next way, and go on to the next decision."""
    for i in range(first, last):
        w = stage.worlds[i]
        before = _cost(w, manner.energy_weight)
        draw_all(w, logits[i], manner.most_likely)
        stage.dones[i] = not _go_on(w, manner)
        stage.rewards[i] = before - _cost(w, manner.energy_weight)
        if stage.dones[i]:
            score_day(stage, i, joules(w) / MINUTE)
            _begin(stage, manner, i)
        else:
            show(w, manner.ways, stage.seen[i])


@inner
def _begin(stage: MigStage, manner: Manner, i: int) -> None:
    start_day(stage, i)
    _go_on(stage.worlds[i], manner)
    show(stage.worlds[i], manner.ways, stage.seen[i])


@inner
def _go_on(w: MigWorld, manner: Manner) -> bool:
    return play(w, manner.rank, manner.parameters, w.events + manner.every)


@inner
def _cost(w: MigWorld, weight: float) -> float:
    """ET so far; a job counts once it has ended."""
    tardiness = w.tardiness / MINUTE / w.job_count
    return (tardiness + weight * joules(w) / MINUTE) / (1.0 + weight)
