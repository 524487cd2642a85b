"""What a scheduler is told of run times on slices: the truth, noise, or what history suggests.

    told = mig_estimates(day, "noisy:1", seed=3)
    schedule = simulate_mig(day, cluster, PLACERS["eft"], estimates=told)

How a job scales over sizes of slices is known; how long it is, is told as one factor on all of its
times. Deadlines are as given.

| kind      | the factor                                                                        |
|-----------|-----------------------------------------------------------------------------------|
| exact     | 1                                                                                 |
| noisy:σ   | exp(σ z), with a normal z that follows from the seed and the job's row            |
| predicted | such that the job is as long as ended jobs of its group were: the geometric mean   |
|           | of their lengths when it arrives; of all ended jobs while its group has none, and  |
|           | FIRST_GUESS while nothing has ended                                               |

A job's length is its time on the largest size that it can run on; its group is its kind and its
class of sublinearity.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.mig.workload.jobs import SIZES, MigWorkload
from dovetail.prediction.estimates import sigma_of

FIRST_GUESS = 600.0
"""Seconds: a job's length while nothing has ended, and no estimate was given."""

EXACT = "exact"
PREDICTED = "predicted"
GOLDEN = 0.6180339887498949
"""Multiples of it, without their whole parts, fill [0, 1) evenly however many there are."""

_RANGE = re.compile(r"noisy:(\d{1,3}(?:\.\d{1,6})?)\.\.(\d{1,3}(?:\.\d{1,6})?)", re.ASCII)
_FORMS = "write exact, noisy:0.5 (any sigma of 0 or more) or predicted"


@dataclass(frozen=True)
class MigEstimates:
    """What is told of each job of a workload."""

    name: str  # "exact", "noisy:1" or "predicted"
    factors: Floats  # [jobs] of the true times; NaN: predicted on arrival


def mig_estimates(workload: MigWorkload, spec: str, seed: int = 0) -> MigEstimates:
    """Estimates of one kind for every job; `seed` matters to `noisy` only."""
    count = len(workload)
    if spec == EXACT:
        return MigEstimates(spec, np.ones(count))
    if spec == PREDICTED:
        return MigEstimates(spec, np.full(count, np.nan))
    if not spec.startswith("noisy"):
        raise ConfigError(f"estimates {spec!r} unknown: {_FORMS}")
    if seed < 0:
        raise ConfigError(f"seed is {seed}, expected 0 or more")
    sigma = sigma_of(spec, _FORMS)
    z = np.random.Generator(np.random.PCG64(seed)).standard_normal(count)
    return MigEstimates(f"noisy:{sigma:g}", np.exp(np.clip(sigma * z, -50.0, 50.0)))


def estimates_of_days(
    days: Sequence[MigWorkload], spec: str, seed: int = 0
) -> tuple[MigEstimates, ...]:
    """Estimates for several days, day i with `seed + i`.

    Kinds with commas between them take turns, and `noisy:0..1.5` gives each day a sigma of its own,
    spread evenly between these bounds: what a training under all of them needs.
    """
    kinds = check_estimates(spec).split(",")
    return tuple(
        mig_estimates(day, _of_day(kinds[i % len(kinds)], i), seed + i)
        for i, day in enumerate(days)
    )


def _of_day(kind: str, number: int) -> str:
    found = _RANGE.fullmatch(kind)
    if found is None:
        return kind
    low, high = sorted((float(found[1]), float(found[2])))
    return f"noisy:{low + (high - low) * (number * GOLDEN % 1.0)}"


def check_estimates(spec: str) -> str:
    """The same text; an unknown kind is an error before anything is drawn or simulated."""
    for kind in spec.split(","):
        if kind not in (EXACT, PREDICTED) and _RANGE.fullmatch(kind) is None:
            if not kind.startswith("noisy"):
                raise ConfigError(f"estimates {kind[:40]!r} unknown: {_FORMS}")
            sigma_of(kind, _FORMS)
    return spec


def lengths(workload: MigWorkload) -> Floats:
    """[jobs] seconds on the largest size that the job can run on."""
    times = workload.times[:, list(SIZES)]
    last = len(SIZES) - 1 - np.argmax(np.isfinite(times)[:, ::-1], axis=1)
    found: Floats = times[np.arange(len(times)), last]
    return found


def groups(workload: MigWorkload) -> Ints:
    """[jobs] jobs of one kind and one class of sublinearity share a number, from 0."""
    kinds = workload.trace.jobs.kind.codes.astype(np.int64)
    found: Ints = np.unique(kinds * 8 + workload.sublinearity(), return_inverse=True)[1]
    return found.astype(np.int64)
