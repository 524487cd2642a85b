"""How policies are measured on the partition: on the unseen tenth, and in windows of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from dovetail.agents.charges import charge_blocks
from dovetail.agents.history import Site
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.evaluation.report.charts import busy_share
from dovetail.evaluation.run import Run
from dovetail.evaluation.standing import measure
from dovetail.evaluation.statistics import Interval
from dovetail.policies.policy import Policy
from dovetail.prediction import HISTORY
from dovetail.simulator import simulate_window, warm_window

METRICS = ("wait", "turnaround", "bsld")
QUEUE = ("queue_wait", "queue_bsld")
"""Of all jobs that wait while the unseen part lasts, whenever they came."""

BLOCKS = 20
"""Blocks of consecutive jobs of the unseen part."""

RESAMPLES = 4000


class Told(NamedTuple):
    """A policy, and what it is told of the whole history's jobs."""

    policy: Policy
    estimates: Estimates


def on_unseen(site: Site, one: Told, first: int) -> tuple[dict[str, float], Floats]:
    """Means over the jobs from row `first` on of a whole replay, and of blocks of them.

    Jobs from before that row that still wait pay in `QUEUE` alone; in `whole`, all jobs do.
    """
    schedule = Run(site.trace, site.cluster, one.policy, one.estimates).replay()
    values = measure(schedule, first + np.flatnonzero(schedule.ran[first:]))
    submit = site.trace.jobs.submit
    row = dict(zip(METRICS, values.mean(axis=1).tolist(), strict=True))
    row["utilisation"] = float(busy_share(schedule, np.array([submit[first], submit[-1]]))[0])
    row["wait_p95"] = float(np.percentile(values[0], 95))
    whole = measure(schedule, np.flatnonzero(schedule.ran)).mean(axis=1).tolist()
    row |= {f"whole_{metric}": mean for metric, mean in zip(METRICS, whole, strict=True)}
    size = max(1, values.shape[1] // BLOCKS)
    count = values.shape[1] // size
    blocks = values[:, : count * size].reshape(len(METRICS), count, size).mean(axis=2)
    queue = charge_blocks(schedule, first, count)
    row |= dict(zip(QUEUE, queue.mean(axis=1).tolist(), strict=True))
    return row, np.concatenate((blocks, queue))


class Windows:
    """Windows of the unseen part as SAF left the cluster; jobs that waited before them count too.

    With own jobs only, serving the newest first looks best: those from before pay, uncounted.
    """

    def __init__(self, base: Schedule, first: int, count: int) -> None:
        self.base = base
        self.size = max(1, (len(base.trace) - first) // count)
        self.starts = [first + i * self.size for i in range(count)]

    def play(self, one: Told) -> Floats:
        """Sums [metrics, windows] over all jobs that wait, and how many these are."""
        order, place, fill = one.policy.parts()
        found = np.empty((len(METRICS) + 1, len(self.starts)))
        for at, start in enumerate(self.starts):
            window = warm_window(self.base, start, self.size)
            known = one.estimates.take(window.rows)
            schedule = simulate_window(
                window, self.base.cluster, order, place, fill, known, HISTORY
            )
            waits = window.own.copy()
            waits[: window.carried] = np.isnan(window.start)
            rows: Ints = np.flatnonzero(waits & schedule.ran)
            found[:-1, at] = measure(schedule, rows).sum(axis=1)
            found[-1, at] = len(rows)
        return found


def most_utilisation(trace: Trace, gpus: int) -> float:
    """What no schedule exceeds: jobs run on any part of the GPUs, as soon as they have come.

    What a job could have done by the last submission is served like water, first come first served.
    """
    jobs = trace.jobs
    end, now, backlog, done = jobs.submit[-1], jobs.submit[0], 0.0, 0.0
    for submit, run, asked in zip(jobs.submit, jobs.run, jobs.gpus, strict=True):
        served = min(backlog, gpus * (submit - now))
        done, backlog, now = done + served, backlog - served, submit
        backlog += asked * min(run, end - submit)
    return float(done / (gpus * (end - jobs.submit[0])))


def ratio_over_seeds(ours: Floats, theirs: Floats) -> dict[str, Any]:
    """mean(ours) / mean(theirs) with 95 %: ours [seeds, blocks], theirs [blocks] or the same.

    Seeds and blocks are both drawn with replacement; what is not learned has one seed.
    """
    ours, theirs = np.atleast_2d(ours), np.atleast_2d(theirs)
    random = np.random.default_rng(0)
    blocks = _drawn_shares(random, ours.shape[1])
    a, b = (
        ((_drawn_shares(random, len(part)) @ part) * blocks).sum(axis=1) for part in (ours, theirs)
    )
    drawn = a / b
    low, high = np.percentile(drawn, [2.5, 97.5]).tolist()
    return asdict(Interval(float(ours.mean() / theirs.mean()), low, high, 0.95))


def _drawn_shares(random: np.random.Generator, count: int) -> Floats:
    """How often each of so many is drawn, in every resample: [resamples, count], of sum 1."""
    shares: Floats = random.multinomial(count, np.full(count, 1.0 / count), RESAMPLES) / count
    return shares
