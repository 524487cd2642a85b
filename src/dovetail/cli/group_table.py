"""Who gains and who pays, as a table: classes of jobs, and the users at both ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from dovetail.domain.group_waits import GroupWaits

USERS = 3
"""Shown of those that gain most and of those that pay most."""

FEW = 20
"""Jobs below which a user's mean is chance."""


def group_table(groups: Sequence[GroupWaits]) -> Table:
    """Waits of each class under both policies; of users those whose mean changed most."""
    from dovetail.cli.plain import cell
    from dovetail.cli.screen import columns
    from dovetail.domain.units import duration

    heads = ("jobs", "mean before", "mean", "95th percentile before", "95th percentile")
    table = columns("who", *heads, right=heads)
    for group in [*_classes(groups), *_users(groups)]:
        label = f"user {group.name}" if group.grouping == "user" else group.name
        waits = (group.baseline_mean, group.mean, group.baseline_p95, group.p95)
        table.add_row(cell(label), f"{group.jobs:,}", *map(duration, waits))
    return table


def _classes(groups: Sequence[GroupWaits]) -> list[GroupWaits]:
    return [group for group in groups if group.grouping != "user"]


def _users(groups: Sequence[GroupWaits]) -> list[GroupWaits]:
    users = [group for group in groups if group.grouping == "user" and group.jobs >= FEW]
    users.sort(key=lambda group: group.mean - group.baseline_mean)
    return users if len(users) <= 2 * USERS else [*users[:USERS], *users[-USERS:]]
