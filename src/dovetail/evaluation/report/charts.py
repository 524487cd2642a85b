"""Charts of a comparison, and of schedules over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.domain.schedule import Schedule
from dovetail.domain.units import duration
from dovetail.evaluation.comparison import Comparison
from dovetail.evaluation.report import drawing
from dovetail.evaluation.report.drawing import GRID, TICKS, canvas, line, short, tick

BINS = 300
"""Points of a curve over time: about one per two pixels."""


def bars(comparison: Comparison, metric: str, write: Callable[[float], str]) -> str:
    """One bar per policy, the best in a stronger colour, the bound as a line."""
    return drawing.bars(
        [row.label for row in comparison.rows],
        [row.metrics[metric] for row in comparison.rows],
        comparison.rows.index(comparison.best(metric)),
        float(getattr(comparison.bound, metric)),
        write,
    )


def waits(comparison: Comparison) -> str:
    """Share of jobs (upwards) that waited no longer than so long (to the right)."""
    with canvas(height=4.2) as (axes, svg):
        longest, lowest = 60.0, 100.0
        for number, row in enumerate(comparison.rows):
            if not row.wait_percentiles:
                continue
            longest = max(longest, row.wait_percentiles[-1])
            lowest = min(lowest, float(np.count_nonzero(np.array(row.wait_percentiles) <= 0)))
            axes.plot(row.wait_percentiles, np.arange(101), label=short(row.label), **line(number))
        axes.set_xscale("symlog", linthresh=60.0)
        axes.set_xlim(0, longest * 1.1)
        # Jobs that never waited need no space of their own.
        bottom = 20 * min(4, lowest // 20)
        axes.set_ylim(bottom, 101)
        axes.set_yticks(np.linspace(bottom, 100, 5))
        ticks = [t for t in TICKS if t == 0 or 60 <= t <= longest]
        axes.set_xticks(ticks, [tick(t, duration) for t in ticks])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %")
        axes.set_xlabel("wait (logarithmic beyond 1 min)")
        axes.set_ylabel("jobs that waited no longer")
        axes.grid(color=GRID)
        if axes.get_lines():
            figure: Any = axes.figure
            figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9.5)
    return svg()


def utilisation(schedules: Mapping[str, Schedule]) -> str:
    """Share of GPUs in use over time, one line per schedule."""
    with canvas(height=3.4) as (axes, svg):
        first = min(float(s.trace.jobs.submit[0]) for s in schedules.values())
        last = max(float(np.nanmax(s.end, initial=first)) for s in schedules.values())
        edges = np.linspace(first, max(last, first + 1.0), BINS + 1)
        days = (edges[:-1] + np.diff(edges) / 2 - first) / 86_400.0
        for number, (label, schedule) in enumerate(schedules.items()):
            share = 100.0 * busy_share(schedule, edges)
            axes.plot(days, share, label=short(label), **line(number))
        axes.set_ylim(0, 101)
        axes.set_xlim(0, float(days[-1]))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %")
        axes.set_xlabel("days since the first job")
        axes.set_ylabel("GPUs in use")
        axes.grid(color=GRID)
        axes.legend(frameon=False, loc="lower right", ncols=min(3, len(schedules)))
    return svg()


def busy_share(schedule: Schedule, edges: Floats) -> Floats:
    """Mean share of GPUs in use between each two neighbouring edges."""
    ran = schedule.ran
    gpus = schedule.trace.jobs.gpus[ran].astype(np.float64)
    times = np.concatenate([schedule.start[ran], schedule.end[ran]])
    order = np.argsort(times, kind="stable")
    times, busy = times[order], np.cumsum(np.concatenate([gpus, -gpus])[order])
    if len(times) == 0:
        return np.zeros(len(edges) - 1)
    # GPU seconds used up to a time are piecewise linear, so that interpolation is exact.
    area = np.concatenate([[0.0], np.cumsum(busy[:-1] * np.diff(times))])
    used = np.diff(np.interp(edges, times, area))
    share: Floats = used / (np.diff(edges) * max(1, schedule.cluster.total_gpus))
    return share
