"""What commands show: results on stdout, progress and notes on stderr."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dovetail.cli.plain import cell

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


class Report(Protocol):
    """Called with the fraction done and, where it changes, what is being done."""

    def __call__(self, fraction: float, text: str | None = None) -> None: ...


def results() -> Console:
    """Where results go; names are escaped by whoever prints them."""
    from rich.console import Console

    return Console(highlight=False, emoji=False)


def messages() -> Console:
    """Where progress and notes go, so that results can be piped."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)


def columns(*headers: str, right: Sequence[str] = ()) -> Table:
    """An empty table in the one style of all commands."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for header in headers:
        table.add_column(header, justify="right" if header in right else "left")
    return table


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Names and values in two columns, without a heading; values are escaped here."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for name, value in rows:
        table.add_row(f"[dim]{name}[/dim]", cell(value))
    return table


def print_notes(notes: Iterable[str]) -> None:
    """What was left out, assumed or repaired."""
    console = messages()
    for note in notes:
        console.print(f"[dim]note:[/dim] {cell(note)}", soft_wrap=True)


@contextmanager
def progress_bar(text: str) -> Iterator[Report]:
    """A bar on stderr that disappears when done; nothing where stderr is no terminal."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    console = messages()
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        Remaining(elapsed_when_finished=True),
        console=console,
        transient=True,
        disable=not console.is_terminal,  # Rich would print an empty line for each bar
    )
    with bar:
        task = bar.add_task(text, total=1.0)

        def report(fraction: float, text: str | None = None) -> None:
            changed: dict[str, Any] = {} if text is None else {"description": text}
            bar.update(task, completed=fraction, **changed)

        yield report


COMPILING = "compiling the simulator, up to half a minute; later runs start at once"

LOOP = "loop.advance"
"""How the name of the last kernel to be compiled begins: the simulator's loop."""


def warn_of_compiling(last: str = LOOP) -> None:
    """The first run after an installation or update takes a while: say so."""
    if not is_compiled(last):
        messages().print(COMPILING, style="dim")


def is_compiled(last: str = LOOP) -> bool:
    """Whether the compiled code of an earlier run is at hand."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    return folder is not None and any(Path(folder).rglob(f"{last}*.nbc"))
