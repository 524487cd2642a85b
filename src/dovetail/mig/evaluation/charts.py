"""Charts of sliced GPUs: jobs on slices, power, and how the GPUs are cut, over a day."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dovetail.evaluation.report import drawing
from dovetail.evaluation.report.drawing import BEST, GRID, LIMIT, QUIET, canvas, line, short
from dovetail.mig.evaluation.columns import BOUND
from dovetail.mig.evaluation.comparison import MigComparison
from dovetail.mig.evaluation.history import CutHistory, power
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.schedule import MigSchedule

HOUR = 3600.0
POWER_BINS = 96
"""A quarter of an hour of a day each: finer ones show single jobs, not the day."""


def bars(comparison: MigComparison, metric: str, write: Callable[[float], str]) -> str:
    """One bar per contender with its deviation over days; the bound as a line if there is one."""
    bounds = [bound.mean.get(metric, 0.0) for bound in comparison.bounds]
    several = len(comparison.rows[0].per_day[metric]) > 1
    return drawing.bars(
        [row.label for row in comparison.rows],
        [row.mean[metric] for row in comparison.rows],
        comparison.rows.index(comparison.best(metric)),
        bounds[0] if len(bounds) == 1 else 0.0,
        write,
        BOUND,
        [row.std[metric] for row in comparison.rows] if several else None,
    )


def power_over_day(schedules: Mapping[str, MigSchedule]) -> str:
    """Kilowatts of all GPUs, one line per contender."""
    first = min(float(s.trace.jobs.submit[0]) for s in schedules.values())
    last = max(float(s.trace.jobs.submit[0]) + s.span for s in schedules.values())
    edges = np.linspace(first, max(last, first + 1.0), POWER_BINS + 1)
    hours = (edges[:-1] + np.diff(edges) / 2) / HOUR
    with canvas(height=3.6, width=12.4) as (axes, svg):
        for number, (label, schedule) in enumerate(schedules.items()):
            axes.plot(hours, power(schedule, edges) / 1e3, label=short(label, 44), **line(number))
        axes.set_xlim(float(edges[0]) / HOUR, float(edges[-1]) / HOUR)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("kW, all GPUs")
        _hours(axes)
        axes.grid(color=GRID)
        figure: Any = axes.figure
        figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9.5)
    return svg()


def gantt(schedule: MigSchedule, cuts: CutHistory, first: float, last: float) -> str:
    """Jobs on the slices of each GPU between two moments; a lane is a memory slice."""
    from matplotlib.patches import Patch

    kinds = schedule.cluster.models
    tops = np.cumsum([0.0, *(kind.memory_slices + 1.2 for kind in kinds)])
    with canvas(height=1.3 + 0.095 * float(tops[-1]), width=12.4) as (axes, svg):
        for number, kind in enumerate(kinds):
            for begin, end, cut in cuts.stretches(number, last):
                if end > first:
                    _draw_slices(axes, kind, cut, float(tops[number]), max(begin, first), end)
        _draw_jobs(axes, schedule, tops, first, last)
        middles = [
            float(top) + kind.memory_slices / 2 for top, kind in zip(tops, kinds, strict=False)
        ]
        shown = cuts.at(first)
        axes.set_yticks(
            middles,
            [f"GPU {n + 1}:  {sizes(kinds[n], shown[n])}" for n in range(len(kinds))],
        )
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(first / HOUR, last / HOUR)
        axes.set_ylim(float(tops[-1]) - 0.8, -0.8)
        axes.spines["left"].set_visible(False)
        _clock(axes)
        handles = [
            Patch(color=BEST, label="ends on time"),
            Patch(color=LIMIT, label="ends late"),
            Patch(facecolor="#EEF1F4", edgecolor="#C9D1DA", label="slice, free"),
        ]
        figure: Any = axes.figure
        figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return svg()


def configurations(cuts: CutHistory, last: float) -> str:
    """How many GPUs were cut in which way; dark: large slices, light: small ones."""
    ways = _ways(cuts)
    times = np.array([*cuts.time, last]) / HOUR
    counts = np.zeros((len(ways), len(times)))
    for column, numbers in enumerate([*cuts.numbers, cuts.numbers[-1]]):
        for kind, number in zip(cuts.cluster.models, numbers, strict=True):
            counts[ways.index(sizes(kind, number)), column] += 1
    with canvas(height=3.6, width=12.4) as (axes, svg):
        shades = _shades(len(ways))
        axes.stackplot(
            times, counts, step="post", labels=ways, colors=shades, edgecolor="white", linewidth=0.2
        )
        axes.set_xlim(float(times[0]), float(times[-1]))
        axes.set_ylim(0, len(cuts.cluster.models))
        axes.set_ylabel("GPUs")
        _hours(axes)
        figure: Any = axes.figure
        figure.legend(loc="outside lower center", ncols=7, frameon=False, fontsize=9.5)
    return svg()


def sizes(kind: GpuModel, number: int) -> str:
    """A configuration by its slices, the largest first: 4+2+1."""
    found = sorted((part.compute for part in kind.configurations[number - 1].slices), reverse=True)
    return "+".join(map(str, found))


def _ways(cuts: CutHistory) -> list[str]:
    """Every way that occurs, larger slices first."""
    found = {
        sizes(kind, number)
        for numbers in cuts.numbers
        for kind, number in zip(cuts.cluster.models, numbers, strict=True)
    }
    return sorted(found, key=lambda text: [-int(size) for size in text.split("+")])


def _shades(count: int) -> list[Any]:
    import matplotlib as mpl

    return [mpl.colormaps["viridis"](place) for place in np.linspace(0.05, 0.97, count)]


def _draw_slices(
    axes: Any, kind: GpuModel, number: int, top: float, begin: float, end: float
) -> None:
    from matplotlib.patches import Rectangle

    for profile, offset in kind.layout(number):
        axes.add_patch(
            Rectangle(
                (begin / HOUR, top + offset), (end - begin) / HOUR,
                profile.memory_slices,
                facecolor="#EEF1F4", edgecolor="#C9D1DA", linewidth=0.5,
            )
        )  # fmt: skip


def _draw_jobs(axes: Any, schedule: MigSchedule, tops: Any, first: float, last: float) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    with np.errstate(invalid="ignore"):
        shown = np.flatnonzero((schedule.start < last) & (schedule.end > first))
    late = schedule.tardiness > 0
    boxes: dict[bool, list[Rectangle]] = {False: [], True: []}
    for row in shown.tolist():
        begin, end = max(first, schedule.start[row]), min(last, schedule.end[row])
        kind = schedule.cluster.models[schedule.gpu[row]]
        height = _height(kind, int(schedule.size[row]))
        corner = (begin / HOUR, float(tops[schedule.gpu[row]]) + float(schedule.offset[row]) + 0.08)
        boxes[bool(late[row])].append(Rectangle(corner, (end - begin) / HOUR, height - 0.16))
    for is_late, patches in boxes.items():
        axes.add_collection(
            PatchCollection(
                patches, facecolor=LIMIT if is_late else BEST, edgecolor="white", linewidth=0.35
            )
        )


def _height(kind: GpuModel, size: int) -> int:
    """Memory slices of the smallest instance with so many compute slices."""
    return min(part.memory_slices for part in kind.profiles if part.compute == size)


def _hours(axes: Any) -> None:
    axes.xaxis.set_major_locator(_every(2.0))
    axes.set_xlabel("hours since the day began")


def _clock(axes: Any) -> None:
    axes.xaxis.set_major_locator(_every(0.25))
    axes.xaxis.set_major_formatter(
        lambda value, _: f"{int(value + 1e-6):02d}:{round(value % 1 * 60) % 60:02d}"
    )
    axes.set_xlabel("time of day", color=QUIET)


def _every(step: float) -> Any:
    from matplotlib.ticker import MultipleLocator

    return MultipleLocator(step)
