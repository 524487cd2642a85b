"""Who gains and who pays, as a table: classes of jobs; QOS, accounts and users at both ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from dovetail.domain.group_waits import GroupWaits

ENDS = 3
"""Shown of those that gain most and of those that pay most."""

CLASSES = ("size", "run_time")
"""Groupings of which all groups are shown."""

FEW = 20
"""Jobs below which a mean is chance."""


def group_table(groups: Sequence[GroupWaits]) -> Table:
    """Waits under both policies of those who are `shown`."""
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns
    from dovetail.domain.units import duration

    heads = ("jobs", "mean before", "mean", "95th percentile before", "95th percentile")
    table = columns("who", *heads, right=heads)
    for group in shown(groups):
        label = group.name if group.grouping in CLASSES else f"{group.grouping} {group.name}"
        waits = (group.baseline_mean, group.mean, group.baseline_p95, group.p95)
        table.add_row(cell(label), f"{group.jobs:,}", *map(duration, waits))
    return table


def shown(groups: Sequence[GroupWaits]) -> list[GroupWaits]:
    """All classes; of QOS, accounts and users those whose mean changed most, either way."""
    found = []
    for grouping in dict.fromkeys(group.grouping for group in groups):
        these = [group for group in groups if group.grouping == grouping]
        found += these if grouping in CLASSES else _ends(these)
    return found


def _ends(groups: Sequence[GroupWaits]) -> list[GroupWaits]:
    known = [group for group in groups if group.jobs >= FEW]
    known.sort(key=lambda group: group.mean - group.baseline_mean)
    return known if len(known) <= 2 * ENDS else [*known[:ENDS], *known[-ENDS:]]
