"""How long GPUs stay idle between two jobs, though somebody waits: Slurm needs time to start one.

>>> start, end = np.array([0.0, 0.0, 107.0]), np.array([100.0, 200.0, 300.0])
>>> pause(start, end, wait=np.array([0.0, 0.0, 90.0]), nodes=[["a"], ["b"], ["a"]])
7.0
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.domain.schedule import Schedule

HAD_TO_WAIT = 60.0
"""Seconds; the start of a job that waited less says nothing about a pause."""


def pause(start: Floats, end: Floats, wait: Floats, nodes: Sequence[Sequence[Hashable]]) -> float:
    """Seconds from the last end on a job's nodes to its start, in the middle of jobs that waited.

    The simulator starts the next job at once, a Slurm does not.
    """
    ends: dict[Hashable, list[float]] = {}
    for row in np.argsort(end, kind="stable").tolist():
        for name in nodes[row]:
            ends.setdefault(name, []).append(float(end[row]))
    gaps = []
    for row in np.flatnonzero(wait >= HAD_TO_WAIT).tolist():
        began = float(start[row])
        before = [
            of_node[place - 1]
            for of_node in (ends[name] for name in nodes[row])
            if (place := bisect_right(of_node, began))
        ]
        if before:
            gaps.append(began - max(before))
    return float(np.median(gaps)) if gaps else 0.0


def pause_of(schedule: Schedule, until: float) -> float:
    """The same of a schedule; only what happened until then counts."""
    offset, node = schedule.chunk_offset, schedule.chunk_node.tolist()
    began = np.flatnonzero(schedule.start < until)
    nodes = [node[offset[row] : offset[row + 1]] for row in began.tolist()]
    return pause(schedule.start[began], schedule.end[began], schedule.wait[began], nodes)
