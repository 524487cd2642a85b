"""What all who wait are charged while a part of a replay lasts: the one measure of every learner.

Whoever waits is charged a second of wait a second, and of slowdown a second over its run time,
whenever it came and whenever it starts. Own jobs of a part look well if jobs from before it pay, as
they do when the newest are served first; here these pay in the open.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import SHORT
from dovetail.domain.schedule import Schedule


def charge_queue(schedule: Schedule, begin: float, end: float) -> Floats:
    """What all who wait are charged in a span of time, in sum: wait and slowdown."""
    ran = schedule.ran
    submit, start, run = schedule.trace.jobs.submit[ran], schedule.start[ran], schedule.run[ran]
    waited = np.maximum(0.0, np.minimum(start, end) - np.maximum(submit, begin))
    return np.array([waited.sum(), (waited / np.maximum(run, SHORT)).sum()])


def charge_blocks(schedule: Schedule, first: int, count: int) -> Floats:
    """From the submission of row `first` to the last one, in blocks of equal numbers of jobs.

    [2, blocks] per job that comes, as means are: wait, and 1 more than what waiting costs in
    slowdown. Who still waits at the end is charged up to there.
    """
    submit = schedule.trace.jobs.submit
    edges = submit[np.linspace(first, len(submit) - 1, count + 1).astype(int)].tolist()
    found = np.stack([charge_queue(schedule, *span) for span in pairwise(edges)], axis=1)
    found *= count / max(1, len(submit) - first)
    found[1] += 1.0
    return found
