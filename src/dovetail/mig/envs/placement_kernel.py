"""Worlds of sliced GPUs side by side, each stepped to its next decision; resets included."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.calls import call, number_from
from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.mig.envs.observation import Singles
from dovetail.mig.metrics import MINUTE
from dovetail.mig.simulator.events import begin, go_on, joules, next_time
from dovetail.mig.simulator.placement import put, seek
from dovetail.mig.simulator.rows import (
    MigWorld,
    gpu,
    kind,
    need,
    queue,
    slice_facts,
    slot,
    task,
    time_on,
)


class MigStage(NamedTuple):
    """The environments, one row each."""

    worlds: Any  # [environments] MigWorld
    home: Ints  # [environments, 2] addresses of the world and of what is seen
    days: Ints  # [days, 3] see WorkloadTables.address
    initial: Ints  # [GPUs] configurations to begin with
    playing: Ints  # [environments] the day
    following: Ints  # [environments] the day after it
    chances: NDArray[np.uint64]  # [environments] seed of the day after it
    seen: Singles  # [environments, width]
    mask: NDArray[np.int8]  # [environments, actions] 1: valid
    rewards: Floats  # [environments]
    dones: Bools  # [environments]
    scores: Floats  # [environments, 3] late share, mean tardiness (minutes), energy (W·min)


@inner
def start_day(stage: MigStage, i: int) -> None:
    """Begin the day that follows."""
    w = stage.worlds[i]
    day = stage.following[i]
    stage.playing[i] = day
    w.job_count, w.jobs, w.times = stage.days[day, 0], stage.days[day, 1], stage.days[day, 2]
    w.chance = stage.chances[i]
    for number in range(w.gpu_count):
        gpu(w, number).cut = stage.initial[number]
    begin(w)


@inner
def score_day(stage: MigStage, i: int, watt_minutes: float) -> None:
    """Note how the day went; jobs that never ended count as late."""
    w = stage.worlds[i]
    stage.scores[i, 0] = (w.late + w.job_count - w.finished) / w.job_count
    stage.scores[i, 1] = w.tardiness / MINUTE / max(1, w.finished)
    stage.scores[i, 2] = watt_minutes


@inner
def to_decision(w: MigWorld) -> bool:
    """Go on until a job can be placed; False: the day is over."""
    while not seek(w):
        if not go_on(w):
            return False
    return True


@kernel
def reset_placement(stage: MigStage, observe: int, environments: Ints) -> None:
    for i in environments:
        start_day(stage, i)
        to_decision(stage.worlds[i])
        show(stage, observe, i)


@kernel
def step_placement(
    stage: MigStage, observe: int, reward: int, prices: int, facts: Any, noted: int,
    actions: Ints, first: int, last: int,
) -> None:  # fmt: skip
    """One decision in each of these environments; a day that ends is followed by the next.

    Addresses: of the functions that observe and reward, of the prices, and of `facts` itself.
    """
    for i in range(first, last):
        w = stage.worlds[i]
        fact = facts[0]
        energy, ended, late, tardiness = joules(w), w.finished, w.late, w.tardiness
        act(w, fact, actions[i])
        stage.dones[i] = fact.over = not to_decision(w)
        total = joules(w)
        fact.ended, fact.ended_late = w.finished - ended, w.late - late
        fact.tardiness = (w.tardiness - tardiness) / MINUTE
        fact.energy = (total - energy) / MINUTE
        fact.jobs, fact.day_late = w.job_count, w.late
        fact.day_tardiness, fact.day_energy = w.tardiness / MINUTE, total / MINUTE
        stage.rewards[i] = number_from(reward, prices, noted)
        if fact.over:
            score_day(stage, i, total / MINUTE)
            start_day(stage, i)
            to_decision(w)
        show(stage, observe, i)


@inner
def act(w: MigWorld, fact: Any, action: int) -> None:
    """Put the job at hand on a slot, or wait for the next event."""
    if action == w.slot_count:
        w.waits = True
        fact.placed, fact.size, fact.lateness = False, 0.0, 0.0
    else:
        job, here = queue(w)[w.head], slot(w, action)
        number = gpu(w, here.gpu).kind
        duration = time_on(w, job, number, here.size) * task(w, job).left
        fact.placed, fact.size = True, here.size / kind(w, number).slices
        fact.lateness = (w.now + duration - need(w, job).deadline) / MINUTE
        put(w, action)


@inner
def show(stage: MigStage, observe: int, i: int) -> None:
    """Write what is seen, and which actions are valid."""
    w = stage.worlds[i]
    mask = stage.mask[i]
    mask[:] = 0
    for choice in range(w.choices):
        mask[slice_facts(w, choice).slot] = 1
    if len(mask) > w.slot_count:
        # Waiting is of use only if something will happen.
        mask[w.slot_count] = 1 if next_time(w) < np.inf else 0
    stage.seen[i] = np.float32(0.0)
    call(observe, stage.home[i, 0], stage.home[i, 1], stage.seen.shape[1])
