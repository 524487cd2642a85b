"""The mean-field view of sliced GPUs: distributions in, one matrix of transitions out.

Row r of the matrix says how a GPU that is cut in way r draws its next way: a softmax over the
logits, among the `most_likely` ways only. All GPUs share it, so that its size does not depend on
their number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail.domain.compiled import inner, kernel
from dovetail.domain.jobs import Floats
from dovetail.domain.mig_metrics import MINUTE
from dovetail.envs.mig_observation import BINS, SCALE, Singles, bin_of
from dovetail.envs.mig_stage import MigStage, score_day, start_day
from dovetail.simulator.mig.clock import joules
from dovetail.simulator.mig.engine import play
from dovetail.simulator.mig.gpus import ask
from dovetail.simulator.mig.placing import chance
from dovetail.simulator.mig.rows import MigWorld, cut, gpu, kind, need, queue, times

EXTRAS = 3
"""Queue length, and the shares of compute slices and of slots that are busy."""


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
        for number in range(w.gpu_count):
            way = cut(w, gpu(w, number).cut).way
            ask(w, number, draw(w, manner, logits[i, way], _ways(w, number)))
        stage.dones[i] = not _go_on(w, manner)
        stage.rewards[i] = before - _cost(w, manner.energy_weight)
        if stage.dones[i]:
            score_day(stage, i, joules(w) / MINUTE)
            _begin(stage, manner, i)
        else:
            _show(w, manner.ways, stage.seen[i])


@inner
def _begin(stage: MigStage, manner: Manner, i: int) -> None:
    start_day(stage, i)
    _go_on(stage.worlds[i], manner)
    _show(stage.worlds[i], manner.ways, stage.seen[i])


@inner
def _go_on(w: MigWorld, manner: Manner) -> bool:
    return play(w, manner.rank, manner.parameters, w.events + manner.every)


@inner
def _cost(w: MigWorld, weight: float) -> float:
    """ET so far; a job counts once it has ended."""
    tardiness = w.tardiness / MINUTE / w.job_count
    return (tardiness + weight * joules(w) / MINUTE) / (1.0 + weight)


@inner
def _ways(w: MigWorld, number: int) -> int:
    """How many ways there are to cut this GPU."""
    mine = kind(w, gpu(w, number).kind)
    return cut(w, mine.first + mine.count - 1).way + 1


@inner
def draw(w: MigWorld, manner: Manner, logits: Floats, ways: int) -> int:
    """A way, drawn among the most likely ones."""
    share = np.exp(logits[:ways] - logits[:ways].max())
    kept = min(manner.most_likely, ways)
    least = np.sort(share)[ways - kept]
    left = chance(w) * share[share >= least].sum()
    chosen = 0
    for way in range(ways):
        if share[way] >= least:
            chosen = way
            left -= share[way]
            if left < 0.0:
                break
    return chosen


@inner
def _show(w: MigWorld, ways: int, out: Singles) -> None:
    """Shares of GPUs by way, of waiting jobs by 7g time and by time left, and the extras."""
    out[:] = np.float32(0.0)
    busy = compute = 0
    for number in range(w.gpu_count):
        one = gpu(w, number)
        out[cut(w, one.cut).way] += np.float32(1.0 / w.gpu_count)
        busy += one.busy
        compute += kind(w, one.kind).slices
    line, table, share = queue(w), times(w), np.float32(1.0 / max(1, w.queued))
    for place in range(w.queued):
        job = line[place]
        out[ways + bin_of(table[job, 7] / MINUTE)] += share
        out[ways + BINS + bin_of((need(w, job).deadline - w.now) / MINUTE)] += share
    extras = out[ways + 2 * BINS :]
    extras[0] = min(1.0, w.queued / SCALE)
    extras[1] = busy / compute
    extras[2] = 1.0 - w.free / w.open_slots
