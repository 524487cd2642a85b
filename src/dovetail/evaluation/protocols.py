"""How policies are put to the test: on the whole trace, or on random windows as in the papers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dovetail.domain.errors import ConfigError
from dovetail.domain.trace import Trace
from dovetail.evaluation.run import Run
from dovetail.traces.split import windows


@dataclass(frozen=True, slots=True)
class TraceWindow:
    """Consecutive jobs of a trace, replayed from an idle cluster."""

    start: int
    stop: int

    def cut(self, run: Run) -> Run:
        """The window's jobs with the estimates that they have in the whole trace."""
        if (self.start, self.stop) == (0, len(run.trace)):
            return run
        return replace(
            run,
            trace=run.trace.slice(self.start, self.stop),
            estimates=run.estimates.take(slice(self.start, self.stop)),
        )


def plan(trace: Trace, sequences: int | None, length: int, seed: int) -> tuple[TraceWindow, ...]:
    """The whole trace once, or `sequences` random windows of `length` jobs.

    Windows are the published protocol (RLScheduler, RLTune): they measure how a policy treats a
    burst, not the backlog of weeks, so that both kinds of figures are needed.
    """
    if sequences is None:
        return (TraceWindow(0, len(trace)),)
    if sequences < 1:
        raise ConfigError(f"sequences is {sequences}, expected 1 or more")
    return tuple(TraceWindow(at, at + length) for at in windows(trace, sequences, length, seed))
