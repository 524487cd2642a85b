"""Counts over all cycles since the start, as one immutable value that each cycle replaces.

>>> from dovetail.live.model.mode import Mode
>>> Totals().after(CycleReport(Mode.ACTIVE, "3 changes sent", sent=3)).sent
3

A scrape in another thread reads whichever value is current: no locks, never half a cycle.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field

from dovetail.live.cycle.report import CycleReport, Times

BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, math.inf)  # seconds


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often each bucket was hit, and the sum of all."""

    counts: tuple[int, ...] = (0,) * len(BUCKETS)
    sum: float = 0.0

    def with_value(self, seconds: float) -> Histogram:
        if math.isnan(seconds):
            return self
        hit = bisect_left(BUCKETS, seconds)
        counts = tuple(count + (place == hit) for place, count in enumerate(self.counts))
        return Histogram(counts, self.sum + seconds)


@dataclass(frozen=True, slots=True)
class Totals:
    """Everything that only grows."""

    cycles: int = 0
    sent: int = 0
    failed: int = 0
    fallbacks: int = 0
    seconds: Mapping[str, Histogram] = field(
        default_factory=lambda: {part: Histogram() for part in Times._fields}
    )
    verdicts: Mapping[tuple[str, str], int] = field(default_factory=dict)  # guardrail, outcome

    def after(self, report: CycleReport) -> Totals:
        """The totals with one more cycle."""
        verdicts = dict(self.verdicts)
        for verdict in report.verdicts:
            key = (verdict.guardrail, verdict.outcome.value)
            verdicts[key] = verdicts.get(key, 0) + 1
        seconds = report.times._asdict()
        return Totals(
            self.cycles + 1,
            self.sent + report.sent,
            self.failed + report.failed,
            self.fallbacks + report.fell_back,
            {part: kept.with_value(seconds[part]) for part, kept in self.seconds.items()},
            verdicts,
        )
