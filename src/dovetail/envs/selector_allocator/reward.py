"""The shared reward: what each metric grows by beyond the base pair's, charged when it passes.

Between two decisions time passes: jobs wait, run, and leave GPUs unused. What that adds to a
metric, less what it adds in the same time under the base pair, is charged with the next step, as a
share of what the base pair's metric is in the end. So the rewards of an episode sum to the weighed

    1 - ours / base

and what the base pair could not have helped either, a burst of jobs, costs nothing.

| weight      | of all jobs that wait in the window, lower is better                           |
|-------------|--------------------------------------------------------------------------------|
| wait        | mean wait, seconds                                                             |
| turnaround  | mean time from submission to end, seconds                                      |
| bsld        | mean bounded slowdown                                                          |
| utilisation | per cent of the GPUs (CPUs where there are none) left unused until all have ended |

Jobs that came before the window and still wait count like its own. While they did not, serving the
newest first looked best: those from before paid for it, and nobody charged it.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np
from numba import carray

from dovetail.compiled.functions import inner, kernel
from dovetail.compiled.tables import column_address
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import SHORT
from dovetail.envs.reward import RUN
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import cluster_facts, demand, jobs


@dataclass(frozen=True, slots=True)
class RewardWeights:
    """What each metric counts; 0 leaves it out."""

    wait: float = 0.5
    turnaround: float = 0.0
    bsld: float = 0.5
    utilisation: float = 0.0

    def __post_init__(self) -> None:
        if not all(math.isfinite(part) and part >= 0 for part in astuple(self)):
            raise ConfigError(f"weights are {astuple(self)}, expected numbers of 0 or more")
        if not any(astuple(self)):
            raise ConfigError("all weights are 0: there is nothing to learn")

    def numbers(self) -> Floats:
        return np.array(astuple(self), np.float64)


METRIC_NAMES = tuple(part.name for part in fields(RewardWeights))
WAIT_TIME, TURNAROUND, BSLD, UNUSED = range(4)

_runs = column_address(World, "runs", RUN)


@inner
def own_runs(w: World) -> Any:
    """When and how long the jobs of a world run, as far as that is known now."""
    return carray(_runs(w), (w.job_count,))


@inner
def accrue(w: World, runs: Any, carried: int, begin: float, over: bool, out: Floats) -> None:
    """What the metrics have come to by now; `over`: what they come to when all jobs have ended.

    runs: the world's own, or those of another pair in the same window, of which the later are not
    looked at.
    """
    facts = jobs(w)
    wait, turnaround, slow, busy, last, count = 0.0, 0.0, 0.0, 0.0, begin, 0
    for job in range(w.job_count):
        mine = runs[job]
        ran_before = job < carried and mine.start < begin  # not if it is NaN
        if mine.demand < 0 or mine.refused or ran_before:
            continue
        count += 1
        if job >= w.submitted:
            continue
        submit = facts[job].submit
        if over or mine.start <= w.now:  # not if it is NaN: the job waits
            run = mine.end - mine.start
            until = mine.end if over else min(mine.end, w.now)
            wait += mine.start - submit
            turnaround += until - submit
            slow += max(1.0, (mine.end - submit) / max(run, SHORT))
            # Without GPUs in the cluster a job's size is its CPUs, and all of them are the total.
            has = facts[job].gpus if w.most_gpus > 0 else facts[job].size
            busy += has * (until - mine.start)
            last = max(last, until)
        else:
            run = mine.run / demand(w, mine.demand).speed
            wait += w.now - submit
            turnaround += w.now - submit
            slow += max(1.0, (w.now - submit + run) / max(run, SHORT))
    count = max(count, 1)
    out[WAIT_TIME], out[TURNAROUND], out[BSLD] = wait / count, turnaround / count, slow / count
    out[UNUSED] = 0.0
    if last > begin:
        out[UNUSED] = 100.0 * (1.0 - busy / (cluster_facts(w, 0).total_gpus * (last - begin)))


@kernel
def measure_all(world: Any, carried: int, begin: float) -> Floats:
    """The four metrics of a window that has been played to its end."""
    found = np.empty(4)
    accrue(world[0], own_runs(world[0]), carried, begin, True, found)
    return found
