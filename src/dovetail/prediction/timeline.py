"""When jobs of a trace started and ended, as far as predictions may know.

There is one definition: a job ends its run time after the start that the trace recorded; where
none was recorded, after its submission. Whoever predicts at time t may use what ended by t.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.domain.jobs import Floats, Ints, Jobs


@dataclass(frozen=True, slots=True)
class Timeline:
    """Starts and ends with their orders; ties keep the order of submission."""

    submit: Floats
    start: Floats
    end: Floats
    by_start: Ints
    by_end: Ints


def timeline_of(jobs: Jobs, start: Floats | None = None) -> Timeline:
    """As recorded, or with the starts of a schedule; NaN: unknown, so on submission."""
    told = jobs.recorded_start if start is None else start
    # A start before its submission is a clock that went wrong.
    begun = np.maximum(np.where(np.isnan(told), jobs.submit, told), jobs.submit)
    end = begun + jobs.run
    return Timeline(
        jobs.submit.copy(),
        begun,
        end,
        np.argsort(begun, kind="stable"),
        np.argsort(end, kind="stable"),
    )
