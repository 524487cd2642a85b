"""A comparison on sliced GPUs as rows of text: for the terminal and for the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dovetail.domain.units import UNKNOWN, count
from dovetail.evaluation.report.table import Cell
from dovetail.mig.evaluation.comparison import MigComparison, MigRow
from dovetail.mig.evaluation.contenders import letters

BOUND = "lower bound"
SPREAD = " ± "


def minutes(value: float) -> str:
    """Minutes with the digits that tell days apart.

    >>> [minutes(v) for v in (0.0, 0.4321, 12.345, 1234.5)]
    ['0.000', '0.432', '12.35', '1,234']
    """
    return f"{value:.3f}" if value < 9.9995 else f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def _percent(value: float) -> str:
    return f"{100.0 * value:.1f}"


def _million(value: float) -> str:
    return f"{value / 1e6:.3f}"


def kilowatt_hours(value: float) -> str:
    return f"{value:.1f}"


def plain(value: float) -> str:
    return f"{value:.3f}"


@dataclass(frozen=True, slots=True)
class MigColumn:
    """A metric of which less is better (or nothing), its unit, and what it means."""

    key: str
    title: str
    write: Callable[[float], str]
    about: str
    ranked: bool = True


COLUMNS = (
    MigColumn("late_share", "late %", _percent, "Jobs that ended after their deadline, or never."),
    MigColumn(
        "tardiness_mean",
        "tardiness min",
        minutes,
        "Minutes after the deadline, 0 for jobs on time, as the mean over jobs that ended.",
    ),
    MigColumn(
        "energy_kwh",
        "energy kWh",
        kilowatt_hours,
        "What all GPUs drew, from the first job to the last end.",
    ),
    MigColumn(
        "energy_watt_minutes",
        "10⁶ W·min",
        _million,
        "The same energy in the unit of the literature.",
    ),
    MigColumn(
        "energy_tardiness",
        "ET",
        plain,
        "(a × energy in W·min + mean tardiness in minutes) / (a + 1): both in one number.",
    ),
    MigColumn(
        "idle_slice_share",
        "idle slices %",
        _percent,
        "Compute slices that ran nothing, over time. Neither good nor bad by itself.",
        ranked=False,
    ),
    MigColumn(
        "repartitions",
        "repartitions",
        count,
        "How often a GPU was cut anew; 4 s each for the instances in the making.",
        ranked=False,
    ),
    MigColumn("unfinished", "never ran", count, "Jobs that no slice ever fitted."),
)


def cells(comparison: MigComparison) -> list[tuple[str, list[Cell]]]:
    """Label and cells of every row, means with deviations where there are several days."""
    columns = [_column(comparison, column) for column in COLUMNS]
    return [
        (row.label, [column[number] for column in columns])
        for number, row in enumerate(comparison.rows)
    ]


def bound_cells(comparison: MigComparison) -> list[tuple[str, list[str]]]:
    """The rows below: what nobody can beat."""
    several = len(comparison.bounds) > 1
    return [
        (
            f"{BOUND}, {bound.gpus}" if several else BOUND,
            [
                column.write(bound.mean[column.key]) if column.key in bound.mean else UNKNOWN
                for column in COLUMNS
            ],
        )
        for bound in comparison.bounds
    ]


def _column(comparison: MigComparison, column: MigColumn) -> list[Cell]:
    """Best is what reads as best: means that look the same are all marked."""
    texts = [column.write(row.mean[column.key]) for row in comparison.rows]
    best = column.write(min(row.mean[column.key] for row in comparison.rows))
    marked = column.ranked and len(set(texts)) > 1
    return [
        Cell(text + _spread(row, column), marked and text == best)
        for text, row in zip(texts, comparison.rows, strict=True)
    ]


def _spread(row: MigRow, column: MigColumn) -> str:
    if len(row.per_day[column.key]) < 2:
        return ""
    return f"{SPREAD}{column.write(row.std[column.key])}"


def clusters_of(comparison: MigComparison) -> list[str]:
    """The clusters, each with the letter that it has in labels if there are several."""
    named = letters([row.contender for row in comparison.rows])
    if len(named) < 2:
        return list(named)
    return [f"{letter} = {cluster}" for cluster, letter in named.items()]


def caption(comparison: MigComparison) -> str:
    """What the figures rest on."""
    config = comparison.config
    kept, jobs = config["days_kept"], config["jobs"]
    days = "one workload" if kept == 1 else f"mean ± standard deviation over {kept} workloads"
    clusters = "; ".join(clusters_of(comparison))
    text = (
        f"{config['workload']} (seed {config['seed']}, {sum(jobs) / len(jobs):,.0f} jobs) on "
        f"{clusters}; run times told: {config['estimates']}; {days}; "
        f"ET with a = {config['energy_weight']:.3g}. * best in its column."
    )
    return text if comparison.complete else f"{text} Interrupted: not all runs are included."
