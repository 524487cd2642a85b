"""Charts of a comparison as SVG text, drawn without a display and without global state."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.domain.schedule import Schedule
from dovetail.evaluation.comparison import Comparison
from dovetail.evaluation.units import duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours: told apart by all common kinds of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":")
PLAIN, BEST, LIMIT = "#8FB8D4", "#0072B2", "#D55E00"
BINS = 300
"""Points of a curve over time: about one per two pixels."""

WIDE = 30.0
"""Largest over smallest bar from which a linear scale would hide the small ones."""

_TICKS = (0.0, 1.0, 10.0, 60.0, 600.0, 3600.0, 36_000.0, 86_400.0, 864_000.0, 8_640_000.0)
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: small, sharp, searchable
    "svg.hashsalt": "dovetail",  # the same comparison gives the same file
    "font.family": "sans-serif",
    "font.sans-serif": ["system-ui", "Segoe UI", "Roboto", "Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.labelcolor": "#333333",
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
}


def bars(comparison: Comparison, metric: str, write: Callable[[float], str]) -> str:
    """One bar per policy, the best in a stronger colour, the bound as a line."""
    values = [row.metrics[metric] for row in comparison.rows]
    best, bound = comparison.best(metric), float(getattr(comparison.bound, metric))
    shown = np.nan_to_num(np.array(values))
    with _axes(height=1.0 + 0.42 * len(values)) as (axes, svg):
        places = np.arange(len(values))[::-1]
        colours = [BEST if row is best else PLAIN for row in comparison.rows]
        axes.barh(places, shown, color=colours, height=0.68)
        axes.set_yticks(places, [_short(row.label) for row in comparison.rows])
        positive = [value for value in [*shown.tolist(), bound] if value > 0]
        logarithmic = bool(shown.min() > 0 and max(positive) > WIDE * min(positive))
        if logarithmic:
            axes.set_xscale("log")
            axes.set_xlim(min(positive) / 2, max(positive) * 4)
            if write is duration:
                within = [t for t in _TICKS if min(positive) / 2 <= t <= max(positive) * 4]
                axes.set_xticks(within or axes.get_xticks())
        else:
            axes.set_xlim(0, max(positive, default=1.0) * 1.18)
        for place, value in zip(places, values, strict=True):
            axes.annotate(
                write(value),
                (float(np.nan_to_num(value)), place),
                (4, 0),
                textcoords="offset points",
                va="center",
                color="#222222",
            )
        if bound > 0:
            axes.axvline(bound, color=LIMIT, linestyle="--", linewidth=1.6)
            axes.set_xlabel(f"dashed: clairvoyant bound, {write(bound)}", color=LIMIT)
        axes.xaxis.set_major_formatter(lambda value, _: _tick(float(value), write))
        if logarithmic:
            axes.set_title("logarithmic scale", fontsize=9, color="#56616e", loc="right")
        axes.tick_params(axis="y", length=0)
        if not logarithmic:
            axes.locator_params(axis="x", nbins=6)
        axes.minorticks_off()
    return svg()


def waits(comparison: Comparison) -> str:
    """Share of jobs (upwards) that waited no longer than so long (to the right)."""
    with _axes(height=4.2) as (axes, svg):
        longest, lowest = 60.0, 100.0
        for number, row in enumerate(comparison.rows):
            if not row.wait_percentiles:
                continue
            longest = max(longest, row.wait_percentiles[-1])
            lowest = min(lowest, float(np.count_nonzero(np.array(row.wait_percentiles) <= 0)))
            axes.plot(
                row.wait_percentiles, np.arange(101), label=_short(row.label), **_line(number)
            )
        axes.set_xscale("symlog", linthresh=60.0)
        axes.set_xlim(0, longest * 1.1)
        # Jobs that never waited need no space of their own.
        bottom = 20 * min(4, lowest // 20)
        axes.set_ylim(bottom, 101)
        axes.set_yticks(np.linspace(bottom, 100, 5))
        ticks = [tick for tick in _TICKS if tick == 0 or 60 <= tick <= longest]
        axes.set_xticks(ticks, [_tick(tick, duration) for tick in ticks])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %")
        axes.set_xlabel("wait (logarithmic beyond 1 min)")
        axes.set_ylabel("jobs that waited no longer")
        axes.grid(color="#E4E4E4")
        if axes.get_lines():
            figure: Any = axes.figure
            figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9.5)
    return svg()


def utilisation(schedules: Mapping[str, Schedule]) -> str:
    """Share of GPUs in use over time, one line per schedule."""
    with _axes(height=3.4) as (axes, svg):
        first = min(float(s.trace.jobs.submit[0]) for s in schedules.values())
        last = max(float(np.nanmax(s.end, initial=first)) for s in schedules.values())
        edges = np.linspace(first, max(last, first + 1.0), BINS + 1)
        days = (edges[:-1] + np.diff(edges) / 2 - first) / 86_400.0
        for number, (label, schedule) in enumerate(schedules.items()):
            share = 100.0 * busy_share(schedule, edges)
            axes.plot(days, share, label=_short(label), **_line(number))
        axes.set_ylim(0, 101)
        axes.set_xlim(0, float(days[-1]))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %")
        axes.set_xlabel("days since the first job")
        axes.set_ylabel("GPUs in use")
        axes.grid(color="#E4E4E4")
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
    share: Floats = used / (np.diff(edges) * schedule.cluster.total_gpus)
    return share


def _line(number: int) -> dict[str, Any]:
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": DASHES[number // len(COLOURS) % len(DASHES)],
        "linewidth": 1.8,
    }


def _tick(value: float, write: Callable[[float], str]) -> str:
    return duration(value).replace(".0 ", " ") if write is duration else f"{value:,g}"


def _short(label: str, most: int = 28) -> str:
    """A learned policy may be named by a long path: its end tells most."""
    return label if len(label) <= most else "…" + label[1 - most :]


@contextmanager
def _axes(height: float) -> Iterator[tuple[Axes, Callable[[], str]]]:
    """Axes to draw on, and a function that gives the drawing afterwards."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    drawn: list[str] = []
    style: Any = _STYLE
    with mpl.rc_context(style):
        # A Figure of its own, not pyplot: nothing to close, and no display is looked for.
        figure = Figure(figsize=(7.2, height), layout="constrained")
        yield figure.subplots(), lambda: drawn[0]
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": "Dovetail"})
        drawn.append(buffer.getvalue())
