"""The published MIG day: inference and training jobs with deadlines, over one day.

day = mig_day(seed=3)
tight = mig_day(seed=3, slack=TIGHT)
calm = mig_day(seed=3, rate=12.0)
"""

from __future__ import annotations

import math

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Bools, Floats, JobColumns
from dovetail.domain.trace import Trace
from dovetail.mig.workload.jobs import MigWorkload, times_table
from dovetail.traces.synthetic.streams import Streams

MINUTE = 60.0
BASE_RATE = (
    0.111, 0.083, 0.085, 0.1, 0.137, 0.169, 0.171, 0.169, 0.179, 0.191, 0.201, 0.188,
    0.17, 0.177, 0.168, 0.171, 0.163, 0.138, 0.12, 0.111, 0.129, 0.116, 0.106, 0.104,
)  # fmt: skip
"""Jobs a minute, by hour of the day, before the multiplier."""

RATE = 20.0
RELAXED = (2.0, 4.0)
"""Deadlines: so many times the run time on a whole GPU after arrival, drawn evenly."""

TIGHT = (1.0, 1.5)
"""The harder original."""

INFERENCE_SHARE = 0.8
INFERENCE_MEAN = 3.0
"""Minutes on 1g."""

TRAINING_MU = (math.log(40.0) + math.log(60.0)) / 2
TRAINING_SIGMA = (math.log(60.0) - math.log(40.0)) / 3.29

LINEAR = (1.0, 2.0, 3.0, 4.0, 7.0)
SUBLINEAR = (1.0, 2.0, 3.0, 12.5 / 3.2, 18.4 / 3.2)
TRAINING_FLAT = (1.0, 6 / 3.4, 7.85 / 3.4, 8.4 / 3.4, 9.75 / 3.4)
TRAINING_STEEP = (1.0, 4.1 / 2.2, 5.8 / 2.2, 7.1 / 2.2, 10.5 / 2.2)
"""How much faster a job is on 1g, 2g, 3g, 4g and 7g than on 1g."""


def mig_day(
    seed: int = 0,
    slack: tuple[float, float] = RELAXED,
    rate: float = RATE,
    hours: float = 24.0,
) -> MigWorkload:
    """One day (or its first hours); `rate` multiplies the arrivals, the published one is 20."""
    if not rate > 0:
        raise ConfigError(f"rate is {rate}, expected above 0; the published one is {RATE:g}")
    if not 0 < hours <= 24:
        raise ConfigError(f"hours is {hours}, expected above 0 and at most 24")
    streams = Streams(seed)
    arrival = _arrivals(streams("arrivals"), rate, hours * MINUTE)
    count = len(arrival)
    if count == 0:
        raise ConfigError(f"no job arrives within {hours:g} h at rate {rate:g}; ask for more")
    inference = streams("kind").random(count) < INFERENCE_SHARE
    first = np.where(
        inference,
        streams("inference").exponential(INFERENCE_MEAN, count),
        streams("training").lognormal(TRAINING_MU, TRAINING_SIGMA, count),
    )
    by_size = first[:, None] / _speeds(inference, streams("curve").integers(3, size=count) == 2)
    deadline = arrival + streams("slack").uniform(*slack, count) * by_size[:, 4]
    jobs = JobColumns(
        submit=arrival * MINUTE,
        run=first * MINUTE,
        gpus=np.ones(count, np.int64),
        deadline=deadline * MINUTE,
        kind=["inference" if one else "training" for one in inference.tolist()],
    ).build()
    note = f"drawn from the workload mig-day with seed {seed}, not recorded"
    return MigWorkload(Trace(jobs, "mig-day", (note,)), times_table(by_size * MINUTE))


def _speeds(inference: Bools, odd: Bools) -> Floats:
    """[jobs, 5]: a third of the jobs of either kind have the other curve."""
    curves = np.array([LINEAR, SUBLINEAR, TRAINING_STEEP, TRAINING_FLAT])
    chosen: Floats = curves[np.where(inference, 0, 2) + odd]
    return chosen


def _arrivals(random: np.random.Generator, rate: float, end: float) -> Floats:
    """Minutes. A gap is drawn at the rate of the hour in which it begins."""
    times: list[float] = []
    now = 0.0
    while True:
        now += random.exponential(1.0 / (rate * BASE_RATE[int(now // MINUTE)]))
        if now >= end:
            return np.array(times)
        times.append(now)
