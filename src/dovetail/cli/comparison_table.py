"""The comparison in as many columns as the terminal has room for; no number is ever cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.console import Console
from rich.table import Table

from dovetail.cli.plain import cell
from dovetail.cli.screen import columns
from dovetail.evaluation.comparison import Comparison
from dovetail.evaluation.report.table import COLUMNS, Cell, caption, grid

_HEADINGS = {
    "gpu_utilization": "GPUs\nused",
    "fragmentation_mean": "frag-\nmented",
    "fairness_jain_users": "fair-\nness",
    "backfilled": "back-\nfilled",
    "unfinished": "never\nrun",
}
"""Shorter than the report's; others break at their spaces."""

_FIRST_TO_GO = (
    "backfilled",
    "jct_mean",
    "bsld_p95",
    "unfinished",
    "fragmentation_mean",
    "wait_p95",
    "fairness_jain_users",
)


def print_comparison(comparison: Comparison, console: Console) -> None:
    """The table, what it rests on, and which columns had no room."""
    titles = {column.key: column.title for column in COLUMNS}
    print_fitting(
        console, _FIRST_TO_GO, lambda gone: _table(comparison, gone), caption(comparison), titles
    )


def print_fitting(
    console: Console,
    first_to_go: Sequence[str],
    make: Callable[[list[str]], Table],
    caption: str,
    titles: Mapping[str, str],
) -> None:
    """A table that `make` gives without columns for which there is no room, and what it says."""
    left_out = _fitting(console, first_to_go, make)
    console.print(make(left_out))
    console.print()
    for line in caption.splitlines():  # as a whole, its line ends would be spelled out
        console.print(cell(line), style="dim")
    if left_out:
        gone = ", ".join(title for key, title in titles.items() if key in left_out)
        console.print(f"No room here for {gone}: widen the terminal, or see --json.", style="dim")


def _fitting(
    console: Console, first_to_go: Sequence[str], make: Callable[[list[str]], Table]
) -> list[str]:
    """Columns to leave out, one after the other, until the table that `make` gives has room."""
    left_out: list[str] = []
    for key in first_to_go:
        if _width(make(left_out), console) <= console.width:
            break
        left_out.append(key)
    return left_out


def _width(table: Table, console: Console) -> int:
    """What the table would like to have; Rich itself never answers more than there is."""
    return console.measure(table, options=console.options.update(width=1000)).maximum


def _table(comparison: Comparison, left_out: list[str]) -> Table:
    kept = [n for n, column in enumerate(COLUMNS) if column.key not in left_out]
    titles = [_heading(COLUMNS[n].key, COLUMNS[n].title) for n in kept]
    table = columns("\npolicy", *titles, right=titles)
    for column in table.columns:
        column.no_wrap = True
    *rows, (bound, last) = grid(comparison)
    for label, cells in rows:
        table.add_row(cell(label), *(_marked(cells[n]) for n in kept))
    table.add_section()
    table.add_row(bound, *(last[n].text for n in kept), style="italic")
    return table


def _heading(key: str, title: str) -> str:
    """Two lines, so that a column is no wider than its numbers."""
    text = _HEADINGS.get(key) or title.replace(" ", "\n", 1)
    return text if "\n" in text else f"\n{text}"


def _marked(value: Cell) -> str:
    return f"[bold green]{value.marked}[/]" if value.best else value.text
