"""What is known of a job when it is submitted: what it asks for, and how alike jobs have run.

    from dovetail.prediction.timeline import timeline_of
    facts = features_of(trace.jobs, timeline_of(trace.jobs))
    facts.table[0]        # of the first job; facts.names says what each column is

Strictly causal: row i depends on jobs that were submitted, had started or had ended by the time
at which job i is submitted, and on nothing of later.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.functions import inner, kernel
from dovetail.domain.jobs import Floats, Ints, Jobs
from dovetail.prediction.distribution import SHORTEST
from dovetail.prediction.similarity import knows, levels_of
from dovetail.prediction.timeline import Timeline

Table = NDArray[np.float32]

PER_LEVEL = (
    "ended",  # how many jobs of the group have ended, as a logarithm
    "last run",  # logarithms of run times from here on
    "mean run",  # of recent ones: each counts an eighth less than the next
    "spread",
    "last but one run",
    "since last end",
    "since last submission",
    "active",  # submitted and not ended
    "mean elapsed",  # of those that run now
)
KEEP = 0.125
"""What the newest run counts in a mean, once there are eight."""

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Features:
    """One row per job; NaN where nothing is known."""

    table: Table  # [jobs, columns]
    names: tuple[str, ...]


def features_of(jobs: Jobs, timeline: Timeline) -> Features:
    """The features of every job at its submission."""
    levels, groups = levels_of(jobs)
    asked = _asked(jobs)
    table = np.full((len(jobs), len(asked) + len(PER_LEVEL) * len(levels)), np.nan, np.float32)
    for at, column in enumerate(asked.values()):
        table[:, at] = column
    logs = np.log(np.maximum(jobs.run, SHORTEST))
    _replay(
        timeline.submit, timeline.start, timeline.end, timeline.by_start, timeline.by_end,
        groups, int(groups.max()) + 1, logs, table, len(asked),
    )  # fmt: skip
    same = [f"of same {' '.join(level)}" if level else "of all" for level in levels]
    return Features(table, (*asked, *(f"{what} {of}" for of in same for what in PER_LEVEL)))


def _asked(jobs: Jobs) -> dict[str, Floats]:
    """What the job itself says, as far as the trace knows such things."""
    shared = np.maximum(jobs.gpus, 1)
    columns = {
        "gpus": np.log(np.maximum(jobs.gpus, 0.5)),  # none: less than one
        "limit": np.log(jobs.limit),
        "nodes": jobs.nodes.astype(np.float64),
        "cpus": np.log1p(jobs.cpus / shared),
        "memory": np.log1p(jobs.memory / shared),
        "restarts": jobs.restarts.astype(np.float64),
    }
    for name in ("partition", "qos", "kind", "gpu_type"):
        columns[name] = getattr(jobs, name).codes.astype(np.float64)
    told = {name: column for name, column in columns.items() if knows(jobs, name)}
    return told | {"hour": jobs.submit % DAY / 3600.0, "weekday": jobs.submit // DAY % 7.0}


@kernel
def _replay(
    submit: Floats, start: Floats, end: Floats, by_start: Ints, by_end: Ints,
    groups: Ints, group_count: int, logs: Floats, out: Table, first: int,
) -> None:  # fmt: skip
    """Go through submissions in order; let starts and ends of before happen first."""
    # [group] ended, last, mean, square, last but one, last end, last submission, active,
    # running, sum of the starts of those that run
    state = np.zeros((group_count, 10))
    state[:, 5:7] = -np.inf
    started, ended = 0, 0
    for job in range(len(submit)):
        now = submit[job]
        while started < len(by_start) and start[by_start[started]] <= now:
            _start(state, groups[by_start[started]], start[by_start[started]])
            started += 1
        while ended < len(by_end) and end[by_end[ended]] <= now:
            other = by_end[ended]
            _end(state, groups[other], start[other], end[other], logs[other])
            ended += 1
        at = first
        for level in range(groups.shape[1]):
            if groups[job, level] >= 0:
                _tell(state[groups[job, level]], now, out[job, at : at + 9])
                state[groups[job, level], 6] = now
                state[groups[job, level], 7] += 1.0
            at += 9


@inner
def _start(state: Floats, mine: Ints, start: float) -> None:
    for level in range(len(mine)):
        if mine[level] >= 0:
            group = state[mine[level]]
            group[8] += 1.0
            group[9] += start


@inner
def _end(state: Floats, mine: Ints, start: float, end: float, log_run: float) -> None:
    for level in range(len(mine)):
        if mine[level] >= 0:
            group = state[mine[level]]
            group[0] += 1.0
            group[4] = group[1] if group[0] > 1.0 else log_run
            group[1] = log_run
            keep = max(1.0 / group[0], KEEP)
            group[2] += keep * (log_run - group[2])
            group[3] += keep * (log_run * log_run - group[3])
            group[5] = end
            group[7] -= 1.0
            group[8] -= 1.0
            group[9] -= start


@inner
def _tell(group: Floats, now: float, out: Table) -> None:
    out[0] = np.log(1.0 + group[0])
    if group[0] > 0.0:
        out[1] = group[1]
        out[2] = group[2]
        out[3] = np.sqrt(max(group[3] - group[2] * group[2], 0.0))
        out[4] = group[4]
        out[5] = np.log(1.0 + now - group[5])
    if group[6] > -np.inf:
        out[6] = np.log(1.0 + now - group[6])
    out[7] = np.log(1.0 + max(group[7], 0.0))
    if group[8] > 0.5:
        out[8] = np.log(1.0 + max(now - group[9] / group[8], 0.0))
