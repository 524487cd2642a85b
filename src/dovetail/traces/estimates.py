"""What the scheduler is told about run times: the truth, the user's limit, noise, or nothing."""

from __future__ import annotations

import math

import numpy as np

from dovetail.domain.errors import ConfigError, TraceError
from dovetail.domain.jobs import Floats
from dovetail.domain.policy import Estimates
from dovetail.domain.trace import Trace

SHORTEST = 1.0
"""Seconds; policies divide by estimates."""

_FORMS = "write exact, limit, noisy:0.5 (any sigma of 0 or more) or predicted"


def make_estimates(trace: Trace, spec: str, seed: int = 0) -> Estimates:
    """Estimates of one kind for every job of a trace; `seed` matters to `noisy` only."""
    if spec == "exact":
        return Estimates(spec, np.maximum(trace.jobs.run, SHORTEST))
    if spec == "limit":
        return Estimates(spec, _limits(trace))
    if spec == "predicted":
        return Estimates(spec, None)
    if spec.startswith("noisy"):
        sigma = sigma_of(spec)
        return Estimates(f"noisy:{sigma:g}", _noisy(trace.jobs.run, sigma, seed))
    raise ConfigError(f"estimates {spec!r} unknown: {_FORMS}")


def default_estimates(trace: Trace) -> str:
    """What a scheduler would really have known: limits where all jobs have one, else history."""
    return "predicted" if np.isnan(trace.jobs.limit).any() else "limit"


def _limits(trace: Trace) -> Floats:
    unknown = int(np.isnan(trace.jobs.limit).sum())
    if unknown:
        raise TraceError(
            f"{trace.name}: {unknown} of {len(trace)} jobs have no time limit; "
            "use the estimates noisy:1 or predicted instead of limit"
        )
    return np.maximum(trace.jobs.limit, SHORTEST)


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
