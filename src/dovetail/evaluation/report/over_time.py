"""Charts over time: how much of each partition is in use, and how long jobs wait in the queue."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dovetail.domain.units import duration
from dovetail.evaluation.comparison import ComparisonRow
from dovetail.evaluation.report.drawing import GRID, TICKS, canvas, line, short, tick
from dovetail.evaluation.timeline import UsageOverTime

MOST = 8
"""Curves that can be told apart."""


def partitions(timeline: UsageOverTime) -> str:
    """Share of GPUs in use over time, one line per partition (or GPU type)."""
    with canvas(height=3.4) as (axes, svg):
        for number, (name, share) in enumerate(timeline.utilisation[:MOST]):
            label = short(name or "all")
            axes.plot(timeline.days, 100.0 * np.array(share), label=label, **line(number))
        axes.set_ylim(0, 101)
        axes.set_xlim(0, max(timeline.days))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %")
        axes.set_xlabel("days since the first job")
        axes.set_ylabel("GPUs in use")
        axes.grid(color=GRID)
        axes.legend(frameon=False, loc="lower right", ncols=min(4, len(timeline.utilisation)))
    return svg()


def waits(rows: Sequence[ComparisonRow]) -> str:
    """Mean wait of the jobs submitted at a time, one line per policy."""
    with canvas(height=3.4) as (axes, svg):
        longest = 60.0
        known = [row for row in rows if row.timeline is not None][:MOST]
        for number, row in enumerate(known):
            assert row.timeline is not None
            wait = np.array(row.timeline.wait)
            longest = max(longest, float(np.nanmax(wait, initial=60.0)))
            axes.plot(row.timeline.days, wait, label=short(row.label), **line(number))
        axes.set_yscale("symlog", linthresh=60.0)
        axes.set_ylim(0, longest * 1.1)
        ticks = [t for t in TICKS if t == 0 or 60 <= t <= longest]
        axes.set_yticks(ticks, [tick(t, duration) for t in ticks])
        axes.minorticks_off()
        axes.set_xlabel("days since the first job")
        axes.set_ylabel("mean wait (logarithmic beyond 1 min)")
        axes.grid(color=GRID)
        if known:
            axes.legend(frameon=False, loc="upper right", ncols=min(4, len(known)))
    return svg()
