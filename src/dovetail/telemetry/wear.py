"""Finds GPUs that run slower than they should: a CUSUM per GPU over actual against predicted times.

Each ended job gives one number, log(actual / predicted). Over all GPUs these scatter by σ, the
error of the predictor; on a GPU at half speed they scatter around log 2. The sum of what speaks for
the slow GPU, never below 0, passes its threshold soon there and hardly ever elsewhere.

>>> watch = WearWatch(WearRule(sigma=0.3))
>>> for _ in range(4):
...     watch.job_ended("n1:0", predicted=100.0, actual=205.0)
>>> watch.sentence("n1:0")
'n1:0 runs at about 0.49 of its speed, seen on the last 4 jobs'
>>> round(watch.speeds()["n1:0"], 3)
0.488
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats

MOST = 3.0
"""Standard deviations: one job that was predicted badly must not condemn a GPU by itself."""

MOST_LOG = math.log(1000.0)
"""By more than this factor no GPU is slow: such times are broken records."""


@dataclass(frozen=True, slots=True)
class WearRule:
    """What is looked for, and how rarely it may be wrong."""

    sigma: float = 0.6  # scatter of log(actual / predicted) on sound GPUs
    slowdown: float = 2.0  # run times that many times as long are to be found
    jobs_per_false_alarm: float = 10_000.0  # on one GPU

    def __post_init__(self) -> None:
        if not (self.sigma > 0 and self.slowdown > 1 and self.jobs_per_false_alarm > 1):
            raise ConfigError(
                f"wear: sigma {self.sigma}, slowdown {self.slowdown}, a false alarm in "
                f"{self.jobs_per_false_alarm} jobs: expected above 0, 1 and 1"
            )

    @property
    def step(self) -> float:
        """Half of the shift in standard deviations: what each job must exceed to count against."""
        return math.log(self.slowdown) / (2.0 * self.sigma)

    @property
    def threshold(self) -> float:
        """In standard deviations, from Siegmund's formula for the mean time to a false alarm."""
        low, high = 0.0, 100.0
        for _ in range(60):
            middle = (low + high) / 2.0
            if _jobs_to_false_alarm(self.step, middle) < self.jobs_per_false_alarm:
                low = middle
            else:
                high = middle
        return high


def _jobs_to_false_alarm(step: float, threshold: float) -> float:
    """Siegmund (1985): mean number of standard normal steps until a CUSUM passes."""
    b = 2.0 * step * (threshold + 1.166)
    return (math.exp(min(b, 700.0)) - b - 1.0) / (2.0 * step**2)


class _Sum(NamedTuple):
    value: float = 0.0  # the CUSUM
    jobs: int = 0  # since it was last 0
    logs: float = 0.0  # sum of log(actual / predicted) over these
    slow: bool = False


class WearWatch:
    """Follows every GPU; a job on several of them counts for each, since the slowest decides."""

    def __init__(self, rule: WearRule | None = None) -> None:
        self.rule = rule or WearRule()
        self._step, self._threshold = self.rule.step, self.rule.threshold
        self._sums: dict[str, _Sum] = {}

    def job_ended(self, gpu: str, predicted: float, actual: float) -> None:
        """Take in one ended job; times that are no positive numbers say nothing."""
        if not (0 < predicted < math.inf and 0 < actual < math.inf):
            return
        log = math.log(actual) - math.log(predicted)
        scaled = min(max(log / self.rule.sigma, -MOST), MOST)
        before = self._sums.get(gpu, _Sum())
        value = max(0.0, before.value + scaled - self._step)
        if value == 0.0:
            self._sums[gpu] = _Sum()  # also what was slow and is no more: repaired
            return
        self._sums[gpu] = _Sum(
            min(value, 2.0 * self._threshold),  # so that a repaired GPU is cleared in due time
            before.jobs + 1,
            before.logs + min(max(log, -MOST_LOG), MOST_LOG),
            before.slow or value > self._threshold,
        )

    def speeds(self) -> dict[str, float]:
        """Speed of GPUs that are found slow, as a share of what was predicted; others are sound."""
        return {
            gpu: min(1.0, math.exp(-found.logs / found.jobs))
            for gpu, found in self._sums.items()
            if found.slow
        }

    def sentence(self, gpu: str) -> str:
        """In words."""
        found = self._sums.get(gpu, _Sum())
        if not found.slow:
            return f"{gpu} runs as fast as predicted"
        return (
            f"{gpu} runs at about {self.speeds()[gpu]:.2f} of its speed, "
            f"seen on the last {found.jobs} jobs"
        )


def scatter(logs: Floats) -> float:
    """σ of log(actual / predicted) over all jobs; by the median, so that slow GPUs hardly count."""
    known = logs[np.isfinite(logs)]
    if len(known) < 2:
        raise ConfigError(f"{len(known)} jobs with predicted and actual times: too few for a σ")
    return max(0.05, 1.4826 * float(np.median(np.abs(known - np.median(known)))))
