"""Who gains, who pays, and how promises stand, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from dovetail.cli.plain import cell
from dovetail.cli.screen import columns
from dovetail.domain.group_waits import GroupWaits
from dovetail.domain.promises import PromiseCheck
from dovetail.evaluation.report.who_pays import HEADS, who_pays_rows


def print_who_pays(console: Console, groups: Sequence[GroupWaits], note: str) -> None:
    """Waits by size, QOS, account and user; nothing where no group is known."""
    rows = who_pays_rows(groups)
    if not rows:
        return
    table = columns(*HEADS, right=HEADS[2:])
    for row in rows:
        table.add_row(*map(cell, row))
    console.print()
    console.print(f"Who gains, who pays: {note}", style="bold", markup=False)
    console.print(table)


def print_promises(console: Console, check: PromiseCheck) -> None:
    """Broken promises one by one, the others counted."""
    console.print(
        f"promises: {len(check.kept)} kept, {len(check.broken)} broken, "
        f"{len(check.too_few)} with too few jobs to tell"
    )
    for finding in check.broken:
        console.print(f"  broken: {finding}", style="red", markup=False)
