"""How policies are put to the test: on the whole trace, or on random windows as in the papers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.domain.trace import Trace
from dovetail.traces.split import windows


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive jobs of a trace, replayed from an idle cluster."""

    start: int
    stop: int

    def cut(self, trace: Trace, estimates: Estimates) -> tuple[Trace, Estimates]:
        """The window's jobs with the estimates that they have in the whole trace."""
        if (self.start, self.stop) == (0, len(trace)):
            return trace, estimates
        part = estimates.take(slice(self.start, self.stop))
        return trace.slice(self.start, self.stop), part


def plan(trace: Trace, sequences: int | None, length: int, seed: int) -> tuple[Window, ...]:
    """The whole trace once, or `sequences` random windows of `length` jobs.

    Windows are the published protocol (RLScheduler, RLTune): they measure how a policy treats a
    burst, not the backlog of weeks, so that both kinds of figures are needed.
    """
    if sequences is None:
        return (Window(0, len(trace)),)
    if sequences < 1:
        raise ConfigError(f"sequences is {sequences}, expected 1 or more")
    return tuple(Window(at, at + length) for at in windows(trace, sequences, length, seed))


def default_estimates(trace: Trace) -> str:
    """What a scheduler would really have known: limits where all jobs have one, else history."""
    return "predicted" if np.isnan(trace.jobs.limit).any() else "limit"
