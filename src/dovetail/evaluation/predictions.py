"""Predictors side by side on one history, and one job explained."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Jobs
from dovetail.domain.provenance import version
from dovetail.domain.trace import Trace
from dovetail.domain.units import duration
from dovetail.prediction import PREDICTORS, predict
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.features import PER_LEVEL, features_of
from dovetail.prediction.score import PredictionScore, score
from dovetail.prediction.similarity import levels_of
from dovetail.prediction.timeline import timeline_of

PARTS = {"last 80 %": 0.2, "last 10 %": 0.9}
"""Parts of a history that predictors are judged on, and where each begins."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What predictors achieved on a history: scores by predictor and part."""

    trace: str
    digest: str
    jobs: int
    scores: dict[str, dict[str, PredictionScore]]
    forecasts: dict[str, Distribution]

    def to_json(self) -> str:
        """Scores, and what they rest on."""
        told = {
            "version": version(),
            "trace": self.trace,
            "trace_digest": self.digest,
            "jobs": self.jobs,
            "scores": {
                name: {part: asdict(found) for part, found in parts.items()}
                for name, parts in self.scores.items()
            },
        }
        return json.dumps(told, indent=2, sort_keys=True) + "\n"


def judge(trace: Trace, predictors: Sequence[str]) -> Judged:
    """Predict every job as of its submission, and compare with how long it ran."""
    for name in predictors:
        PREDICTORS[name]
    if len(trace) < 20:
        raise ConfigError(
            f"{trace.name}: {len(trace)} jobs, too few to judge predictions; 20 or more"
        )
    forecasts = {name: predict(trace.jobs, name) for name in predictors}
    scores = {name: _scores(forecast, trace.jobs) for name, forecast in forecasts.items()}
    return Judged(trace.name, trace.digest(), len(trace), scores, forecasts)


def _scores(forecast: Distribution, jobs: Jobs) -> dict[str, PredictionScore]:
    found = {}
    for part, share in PARTS.items():
        rows = slice(int(share * len(jobs)), len(jobs))
        found[part] = score(forecast.take(rows), jobs.run[rows])
    return found


def row_of(trace: Trace, job: str) -> int:
    """The row of a job by its id."""
    rows = np.flatnonzero(trace.jobs.ids == job)
    if not len(rows):
        first, last = trace.jobs.ids[0], trace.jobs.ids[-1]
        raise ConfigError(f"{trace.name}: no job {job!r}; ids are such as {first} and {last}")
    return int(rows[0])


def explain(trace: Trace, forecast: Distribution, row: int) -> list[tuple[str, str]]:
    """Why a job is predicted as it is: what was said, and how alike jobs had run by then."""
    jobs = trace.jobs
    one = forecast.take(slice(row, row + 1))
    low, middle, high = (float(one.quantile(level)[0]) for level in (0.1, 0.5, 0.9))
    limit = jobs.limit[row]
    told = [
        ("job", f"{jobs.ids[row]}, {jobs.gpus[row]} GPUs"),
        ("limit", "unknown" if np.isnan(limit) else duration(float(limit))),
        (
            "predicted",
            f"{duration(middle)}; with 80 % between {duration(low)} and {duration(high)}",
        ),
        ("on average", duration(float(one.mean[0]))),
        ("it ran", duration(float(jobs.run[row]))),
    ]
    return told + _alike(jobs, row)


def _alike(jobs: Jobs, row: int) -> list[tuple[str, str]]:
    """Levels of similarity at which jobs had ended, finest first."""
    levels, _ = levels_of(jobs)
    facts = features_of(jobs, timeline_of(jobs)).table[row]
    each = len(PER_LEVEL)
    first = len(facts) - each * len(levels)
    lines = []
    for at, level in enumerate(levels):
        ended, last, mean, spread = facts[first + at * each : first + at * each + 4]
        if np.isnan(last):
            continue
        count = round(float(np.expm1(ended)))
        factor = float(np.exp(spread))
        lines.append(
            (
                f"same {', '.join(level)}" if level else "all jobs",
                f"{count:,} had ended; the last ran {duration(float(np.exp(last)))}, recent ones "
                f"{duration(float(np.exp(mean)))} give or take a factor of {factor:.1f}",
            )
        )
    return lines
