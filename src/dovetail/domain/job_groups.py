"""Jobs by size, run time, user, account, QOS and partition: whom a schedule serves, and how.

>>> from dovetail.domain.jobs import JobColumns
>>> jobs = JobColumns(submit=[0, 1, 2], run=[30, 7200, 90_000], gpus=[1, 8, 64]).build()
>>> GROUPINGS["size"](jobs).names()
['1 GPU', '5-8 GPUs', 'over 32 GPUs']
>>> GROUPINGS["run_time"](jobs).names()
['up to 1 min', '1-8 h', 'over 1 d']
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from dovetail.domain.jobs import Floats, Ints, Jobs, Names
from dovetail.domain.registry import Registry

SIZE_BOUNDS = (1, 4, 8, 32)
"""GPUs up to which a job belongs to a size class; what is larger is the last class.

One GPU; a part of a usual node; a node of eight; a few nodes; many. Half to nine tenths of all jobs
are in the first, most GPU time is in the last two.
"""
SIZES = ("1 GPU", "2-4 GPUs", "5-8 GPUs", "9-32 GPUs", "over 32 GPUs", "no GPU")
"""Jobs that ask for CPUs only are the last class."""

RUN_BOUNDS = (60.0, 3600.0, 8 * 3600.0, 86_400.0)
"""Seconds up to which a job belongs to a run-time class: a test, an hour, a working day, a day."""
RUN_TIMES = ("up to 1 min", "1 min-1 h", "1-8 h", "8 h-1 d", "over 1 d")


def size_class(gpus: int) -> str:
    """The size class of one job.

    >>> size_class(1), size_class(4), size_class(33), size_class(0)
    ('1 GPU', '2-4 GPUs', 'over 32 GPUs', 'no GPU')
    """
    return SIZES[bisect_left(SIZE_BOUNDS, gpus) if gpus else -1]


def size_codes(gpus: Ints) -> Ints:
    """The position in `SIZES` of each job."""
    codes = np.searchsorted(SIZE_BOUNDS, gpus)
    return np.where(gpus > 0, codes, len(SIZES) - 1).astype(np.int64)


def run_codes(run: Floats) -> Ints:
    """The position in `RUN_TIMES` of each job."""
    return np.searchsorted(RUN_BOUNDS, run).astype(np.int64)


Grouping = Callable[[Jobs], Names]

GROUPINGS: Registry[Grouping] = Registry(
    "grouping of jobs",
    {
        "size": lambda jobs: Names(size_codes(jobs.gpus), SIZES),
        # By the true run time: for reports, never for a policy.
        "run_time": lambda jobs: Names(run_codes(jobs.run), RUN_TIMES),
        "qos": lambda jobs: jobs.qos,
        "account": lambda jobs: jobs.account,
        "user": lambda jobs: jobs.user,
        "partition": lambda jobs: jobs.partition,
    },
)
