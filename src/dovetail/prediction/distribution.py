"""How long jobs may run, as a distribution per job: quantiles, mean and log-mean.

>>> forecast = Distribution.of_quantiles(np.geomspace(60.0, 6000.0, len(LEVELS))[None, :])
>>> round(float(forecast.quantile(0.5)[0]))
600
>>> bool(forecast.remaining(np.array([600.0])).quantile(0.5)[0] > 600)
True
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.domain.jobs import Floats, Ints

LEVELS = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
"""Probabilities at which quantiles are kept; in between, log run times are interpolated."""

SHORTEST = 1.0
"""Seconds; shorter runs and predictions count as this long."""

MEDIAN = int(np.searchsorted(LEVELS, 0.5))


@dataclass(frozen=True, slots=True)
class Distribution:
    """Run times of n jobs, in seconds; row i is about job i."""

    quantiles: Floats  # [jobs, levels] ascending along a row
    mean: Floats  # [jobs]
    log_mean: Floats  # [jobs] seconds: exp of the mean logarithm

    @classmethod
    def of_quantiles(cls, quantiles: Floats) -> Distribution:
        """Means worked out from the quantiles, taken as straight lines in the logarithm."""
        logs = np.log(np.maximum(quantiles, SHORTEST))
        weights = level_weights()
        return cls(quantiles, np.exp(logs) @ weights, np.exp(logs @ weights))

    @classmethod
    def of_logs(cls, quantiles: Floats, outputs: Floats, most: Floats) -> Distribution:
        """From log quantiles, and the log-mean and mean that stand last among outputs."""
        means = np.exp(np.clip(outputs[:, len(LEVELS) :], 0.0, most[:, None]))
        return cls(np.exp(quantiles), means[:, 1], means[:, 0])

    def __len__(self) -> int:
        return len(self.mean)

    def take(self, rows: Ints | slice) -> Distribution:
        return Distribution(self.quantiles[rows], self.mean[rows], self.log_mean[rows])

    def quantile(self, level: float) -> Floats:
        """Seconds that a job stays below with this probability."""
        logs = np.log(np.maximum(self.quantiles, SHORTEST))
        at = min(max(int(np.searchsorted(LEVELS, level)), 1), len(LEVELS) - 1)
        part = (level - LEVELS[at - 1]) / (LEVELS[at] - LEVELS[at - 1])
        return np.exp(logs[:, at - 1] + part * (logs[:, at] - logs[:, at - 1]))

    def spread(self) -> Floats:
        """Half of the logarithm between the 10th and the 90th percentile: 0 means certain."""
        return 0.5 * np.log(self.quantile(0.9) / self.quantile(0.1))

    def skew(self) -> Floats:
        """The logarithm of mean / log-mean: how much the few long runs weigh."""
        return np.log(self.mean / self.log_mean)

    def margin(self) -> Floats:
        """The logarithm of the 80th percentile / log-mean: how much longer to be nearly sure."""
        return np.log(self.quantile(0.8) / self.log_mean)

    def remaining(self, elapsed: Floats) -> Distribution:
        """The time that is left to jobs that have run so long.

        A job that has outlived all of its quantiles is expected to run as long again.
        """
        left = _remaining(np.log(np.maximum(self.quantiles, SHORTEST)), elapsed)
        return Distribution.of_quantiles(left)

    def whole_given(self, elapsed: Floats, level: float) -> Floats:
        """Seconds that a job stays below with this probability, given how long it has run.

        At the levels that are kept it is `elapsed + remaining(elapsed).quantile(level)`.
        """
        return _whole_given(np.log(np.maximum(self.quantiles, SHORTEST)), elapsed, level)


def level_weights() -> Floats:
    """How much each level counts in a mean: the probability that it stands for."""
    edges = np.concatenate(([0.0], 0.5 * (LEVELS[1:] + LEVELS[:-1]), [1.0]))
    return np.diff(edges)


@kernel
def _remaining(logs: Floats, elapsed: Floats) -> Floats:
    left = np.empty_like(logs)
    for job in range(len(logs)):
        row, now = logs[job], max(elapsed[job], 0.0)
        gone = chance_below(row, np.log(max(now, SHORTEST))) if now > 0.0 else 0.0
        for k in range(len(LEVELS)):
            if gone >= LEVELS[-1]:
                # Nothing is known any more: a Pareto tail of index 1 doubles in the median.
                left[job, k] = now / (1.0 - LEVELS[k]) - now
            else:
                level = gone + LEVELS[k] * (1.0 - gone)
                left[job, k] = max(np.exp(log_quantile(row, level)) - now, SHORTEST)
    return left


@kernel
def _whole_given(logs: Floats, elapsed: Floats, level: float) -> Floats:
    found = np.empty(len(logs))
    for job in range(len(logs)):
        row, now = logs[job], elapsed[job]
        gone = chance_below(row, np.log(max(now, SHORTEST))) if now > 0.0 else 0.0
        if gone >= LEVELS[-1]:
            found[job] = now / (1.0 - level)
        else:
            end = np.exp(log_quantile(row, gone + level * (1.0 - gone)))
            found[job] = max(end, now + SHORTEST)
    return found


@kernel
def chance_below(row: Floats, log_run: float) -> float:
    """The probability of a run time of at most this logarithm, by one job's log quantiles."""
    if log_run < row[0]:
        return 0.0 if log_run <= 0.0 else LEVELS[0] * log_run / row[0]
    for k in range(1, len(row)):
        if log_run < row[k]:
            width = row[k] - row[k - 1]
            part = (log_run - row[k - 1]) / width if width > 0.0 else 1.0
            return LEVELS[k - 1] + part * (LEVELS[k] - LEVELS[k - 1])
    return LEVELS[-1]


@kernel
def log_quantile(row: Floats, level: float) -> float:
    """The inverse of `chance_below`; beyond the last level its last slope goes on."""
    last = len(row) - 1
    if level <= LEVELS[0]:
        return row[0] * level / LEVELS[0]
    for k in range(1, last + 1):
        if level <= LEVELS[k]:
            part = (level - LEVELS[k - 1]) / (LEVELS[k] - LEVELS[k - 1])
            return row[k - 1] + part * (row[k] - row[k - 1])
    beyond = (level - LEVELS[last]) / (LEVELS[last] - LEVELS[last - 1])
    return row[last] + beyond * (row[last] - row[last - 1])
