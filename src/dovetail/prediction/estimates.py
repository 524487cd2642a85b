"""What the scheduler is told about run times: the truth, the user's limit, noise, a prediction.

make_estimates(trace, "limit")
make_estimates(trace, "limit:power=0.5")    # an order believes limits less than sizes
make_estimates(trace, "predicted")
make_estimates(trace, "predicted:history,order=mean,reserve=q90")
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dovetail.domain.errors import ConfigError, TraceError
from dovetail.domain.estimates import EARLY, LIMIT, Estimates
from dovetail.domain.jobs import Floats
from dovetail.domain.trace import Trace
from dovetail.prediction.distribution import SHORTEST, Distribution
from dovetail.prediction.predictors import predict
from dovetail.prediction.request import Request, Summary

_FORMS = (
    "write exact, limit, limit:power=0.5 (above 0, at most 1), noisy:0.5 (any sigma of 0 or "
    "more), predicted, or predicted:PREDICTOR,order=WHAT,reserve=WHAT"
)

FEW = 0.5
"""Share of jobs without a limit up to which `limit` goes by the partition's longest."""


def make_estimates(trace: Trace, spec: str, seed: int = 0) -> Estimates:
    """Estimates of one kind for every job of a trace; `seed` matters to `noisy` only."""
    if spec == "exact":
        return Estimates(spec, np.maximum(trace.jobs.run, SHORTEST))
    if spec.partition(":")[0] == LIMIT:
        power = limit_power(spec)
        return half_believed(_limits(trace), power)
    if spec == "predicted" or spec.startswith("predicted:"):
        asked = Request.parse(spec)
        return estimates_from(predict(trace.jobs, asked.predictor), asked)
    if spec.startswith("noisy"):
        sigma = sigma_of(spec)
        return Estimates(f"noisy:{sigma:g}", _noisy(trace.jobs.run, sigma, seed))
    raise ConfigError(f"estimates {spec!r} unknown: {_FORMS}")


def default_estimates(trace: Trace) -> str:
    """What a scheduler would really have known: limits where all jobs have one, else history."""
    return "predicted" if np.isnan(trace.jobs.limit).any() else "limit"


def has_limits(trace: Trace) -> bool:
    """Whether enough jobs have one for `limit` to be asked for."""
    return int(np.isnan(trace.jobs.limit).sum()) <= FEW * len(trace)


def limit_power(spec: str) -> float:
    """The number of `limit:power=0.5`; 1 where none is written."""
    try:
        power = 1.0 if spec == LIMIT else float(spec.removeprefix(f"{LIMIT}:power="))
    except ValueError:
        power = math.nan
    if not 0 < power <= 1:
        raise ConfigError(f"estimates {spec!r}: no power above 0 and at most 1; {_FORMS}")
    return power


def half_believed(limits: Estimates, power: float) -> Estimates:
    """The order goes by a power of the limits, reservations by the limits themselves.

    Users ask for the longest that is allowed. By a power below 1 such limits count less against the
    size of a job: SAF by `limit^0.5` is the order of limit times the square of the size.
    """
    if power == 1.0:
        return limits
    seconds = np.maximum(limits.seconds**power, SHORTEST)
    name = f"{LIMIT}:power={power:g}"
    return replace(limits, name=name, seconds=seconds)


def estimates_from(forecast: Distribution, asked: Request) -> Estimates:
    """What is told of predictions that have been made: many requests can share them."""
    order, reserve = asked.order.of(forecast), asked.reserve.of(forecast)
    told = with_forecast(asked.spec, order, reserve, forecast)
    return replace(told, revisions=revisions_of(forecast, asked.reserve, told.reserve))


LATE = 4
"""Revisions of what has been outlived; after them it is doubled. In a tail of which nothing is
known each is five times as long by the 80th percentile."""


def revisions_of(forecast: Distribution, summary: Summary, reserve: Floats) -> Floats:
    """What is believed of jobs that run on: [jobs, EARLY and LATE], never less than before."""
    believed = reserve = np.maximum(reserve, SHORTEST)
    found = []
    for share in EARLY:
        believed = np.maximum(believed, summary.whole_given(forecast, share * reserve))
        found.append(believed)
    for _ in range(LATE):
        later = summary.whole_given(forecast, believed)
        believed = np.maximum(later, believed + SHORTEST)
        found.append(believed)
    return np.column_stack(found)


def with_forecast(name: str, order: Floats, reserve: Floats, forecast: Distribution) -> Estimates:
    """Numbers for the order and reservations, with what else the distribution says."""
    spread, skew, margin = forecast.spread(), forecast.skew(), forecast.margin()
    return Estimates(name, order, reserve, spread, skew, margin)


def _limits(trace: Trace) -> Estimates:
    """A job without a limit gets the longest of its partition, as Slurm would stop it there."""
    limit = trace.jobs.limit.copy()
    unknown = np.isnan(limit)
    count = int(unknown.sum())
    if not has_limits(trace):
        raise TraceError(
            f"{trace.name}: {count} of {len(trace)} jobs have no time limit; "
            "use the estimates noisy:1 or predicted instead of limit"
        )
    if not count:
        return Estimates(LIMIT, np.maximum(limit, SHORTEST))
    longest = float(np.nanmax(limit))
    partition = trace.jobs.partition.codes
    for code in np.unique(partition[unknown]):
        same = partition == code
        known = limit[same & ~unknown]
        limit[same & unknown] = known.max() if len(known) else longest
    jobs = "1 job has" if count == 1 else f"{count:,} jobs have"
    note = f"{jobs} no time limit: the longest limit of the partition is taken"
    return Estimates(LIMIT, np.maximum(limit, SHORTEST), notes=(note,))


def sigma_of(spec: str, forms: str = _FORMS) -> float:
    """The number of `noisy:0.5`; `forms` says what else may be written."""
    try:
        sigma = float(spec.removeprefix("noisy:"))
    except ValueError:
        sigma = math.nan
    if not 0 <= sigma < math.inf:
        raise ConfigError(f"estimates {spec!r}: no sigma of 0 or more after the colon; {forms}")
    return sigma


def _noisy(run: Floats, sigma: float, seed: int) -> Floats:
    """Run time times exp(sigma z), with z from seed and row only.

    A generator fills its output in order, so that row i gets the same z in a longer trace:
    a prefix of a trace keeps its estimates.
    """
    if seed < 0:
        raise ConfigError(f"seed is {seed}, expected 0 or more")
    z = np.random.Generator(np.random.PCG64(seed)).standard_normal(len(run))
    # A sigma of 100 is foolish but legal; beyond e^500 the product would not be finite.
    return np.maximum(run * np.exp(np.minimum(sigma * z, 500.0)), SHORTEST)
