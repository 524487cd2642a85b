"""The comparison on sliced GPUs in as many columns as the terminal has room for."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from dovetail.cli.comparison_table import print_fitting
from dovetail.cli.plain import cell
from dovetail.cli.screen import columns
from dovetail.mig.evaluation.columns import COLUMNS, bound_cells, caption, cells
from dovetail.mig.evaluation.comparison import MigComparison

_LONGEST_LABEL = 30
_FIRST_TO_GO = (
    "unfinished",
    "idle_slice_share",
    "energy_watt_minutes",
    "repartitions",
    "tardiness_mean",
    "energy_kwh",
)


def print_mig_comparison(comparison: MigComparison, console: Console) -> None:
    """The table, what it rests on, and which columns had no room."""
    titles = {column.key: column.title for column in COLUMNS}
    print_fitting(
        console, _FIRST_TO_GO, lambda gone: _table(comparison, gone), caption(comparison), titles
    )


def _table(comparison: MigComparison, left_out: list[str]) -> Table:
    kept = [n for n, column in enumerate(COLUMNS) if column.key not in left_out]
    titles = [COLUMNS[n].title for n in kept]
    table = columns("policy", *titles, right=titles)
    longest = max(len(row.label) for row in comparison.rows)
    for place, column in enumerate(table.columns):
        # A checkpoint's path may be long: only that is broken into lines.
        column.no_wrap = place > 0 or longest <= _LONGEST_LABEL
    for label, line in cells(comparison):
        table.add_row(
            cell(label),
            *(f"[bold green]{line[n].marked}[/]" if line[n].best else line[n].text for n in kept),
        )
    table.add_section()
    for label, texts in bound_cells(comparison):
        table.add_row(cell(label), *(texts[n] for n in kept), style="italic")
    return table
