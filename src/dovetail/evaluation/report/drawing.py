"""What all charts share: SVG text drawn without a display and without global state, and bars."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.domain.units import duration, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours: told apart by all common kinds of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":")
PLAIN, BEST, LIMIT = "#8FB8D4", "#0072B2", "#D55E00"
GRID, QUIET = "#E4E4E4", "#56616e"

WIDE = 30.0
"""Largest over smallest bar from which a linear scale would hide the small ones."""

TICKS = (0.0, 1.0, 10.0, 60.0, 600.0, 3600.0, 36_000.0, 86_400.0, 864_000.0, 8_640_000.0)
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


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    best: int,
    bound: float,
    write: Callable[[float], str],
    bound_name: str = "clairvoyant bound",
    spreads: Sequence[float] | None = None,
) -> str:
    """A bar for each value, the best in a stronger colour, the bound as a line."""
    shown = np.nan_to_num(np.array(values))
    with canvas(height=1.0 + 0.42 * len(values)) as (axes, svg):
        places = np.arange(len(values))[::-1]
        colours = [BEST if number == best else PLAIN for number in range(len(values))]
        whiskers: dict[str, Any] = {}
        if spreads is not None:
            whiskers = {"xerr": spreads, "error_kw": {"ecolor": "#777777", "elinewidth": 1.2}}
        axes.barh(places, shown, color=colours, height=0.68, **whiskers)
        axes.set_yticks(places, [short(label) for label in labels])
        ends = shown if spreads is None else shown + np.array(spreads)
        positive = [value for value in [*shown.tolist(), bound] if value > 0]
        logarithmic = bool(shown.min() > 0 and max(positive) > WIDE * min(positive))
        if logarithmic:
            axes.set_xscale("log")
            axes.set_xlim(min(positive) / 2, max(positive) * 4)
            if write is duration:
                within = [t for t in TICKS if min(positive) / 2 <= t <= max(positive) * 4]
                axes.set_xticks(within or axes.get_xticks())
        else:
            furthest = max(positive, default=1.0)
            axes.set_xlim(0, max(furthest, float(ends.max())) * 1.18)
        for place, value, end in zip(places, values, ends.tolist(), strict=True):
            axes.annotate(
                write(value),
                (end, place),
                (4, 0),
                textcoords="offset points",
                va="center",
                color="#222222",
            )
        if bound > 0:
            axes.axvline(bound, color=LIMIT, linestyle="--", linewidth=1.6)
            axes.set_xlabel(f"dashed: {bound_name}, {write(bound)}", color=LIMIT)
        axes.xaxis.set_major_formatter(lambda value, _: tick(float(value), write))
        if logarithmic:
            axes.set_title("logarithmic scale", fontsize=9, color=QUIET, loc="right")
        axes.tick_params(axis="y", length=0)
        if not logarithmic:
            axes.locator_params(axis="x", nbins=6)
        axes.minorticks_off()
    return svg()


def line(number: int) -> dict[str, Any]:
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": DASHES[number // len(COLOURS) % len(DASHES)],
        "linewidth": 1.8,
    }


def tick(value: float, write: Callable[[float], str]) -> str:
    """A mark of an axis, as short as it can be written."""
    if write in (duration, share):
        return write(value).replace(".0 ", " ")
    return f"{value:,g}"


def short(label: str, most: int = 28) -> str:
    """A learned policy may be named by a long path: its end tells most."""
    return label if len(label) <= most else "…" + label[1 - most :]


@contextmanager
def canvas(height: float, width: float = 7.2) -> Iterator[tuple[Axes, Callable[[], str]]]:
    """Axes to draw on, and a function that gives the drawing afterwards."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    drawn: list[str] = []
    style: Any = _STYLE
    with mpl.rc_context(style):
        # A Figure of its own, not pyplot: nothing to close, and no display is looked for.
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure.subplots(), lambda: drawn[0]
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": "Dovetail"})
        drawn.append(buffer.getvalue())
