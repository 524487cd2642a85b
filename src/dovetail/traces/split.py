"""Parts of a trace: what to learn from and what to be tested on, and windows to train in."""

from __future__ import annotations

import numpy as np

from dovetail.domain.errors import ConfigError, TraceError
from dovetail.domain.trace import Trace


def split(trace: Trace, fraction: float = 0.9) -> tuple[Trace, Trace]:
    """The first `fraction` of the jobs and the rest, in order of submission.

    By time, never at random: a random split would let a predictor learn from jobs of the
    batches that it is tested on.
    """
    if not 0 < fraction < 1:
        raise ConfigError(f"fraction is {fraction}, expected between 0 and 1")
    if len(trace) < 2:
        raise TraceError(f"{trace.name}: 1 job cannot be split; 2 or more are needed")
    cut = min(max(round(len(trace) * fraction), 1), len(trace) - 1)
    return trace.slice(0, cut), trace.slice(cut, len(trace))


MAX_WINDOWS = 1_000_000
"""Days of simulation; more is a slip of the finger."""


def windows(trace: Trace, count: int, length: int, seed: int) -> list[int]:
    """First rows of `count` random windows of `length` consecutive jobs; they may overlap."""
    if not 0 <= count <= MAX_WINDOWS or length < 1:
        raise ConfigError(
            f"{count} windows of {length} jobs: expected 0 to {MAX_WINDOWS:,} of 1 or more"
        )
    if seed < 0:
        raise ConfigError(f"seed is {seed}, expected 0 or more")
    if len(trace) < length:
        raise TraceError(
            f"{trace.name}: {len(trace)} jobs, too few for a window of {length}; "
            f"take windows of {len(trace)} or fewer"
        )
    random = np.random.Generator(np.random.PCG64(seed))
    starts: list[int] = random.integers(0, len(trace) - length + 1, count).tolist()
    return starts
