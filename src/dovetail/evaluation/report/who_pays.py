"""Who gains, who pays: waits by size, QOS, account and user, as rows of text and as HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from dovetail.domain.group_waits import GroupWaits
from dovetail.domain.units import duration
from dovetail.evaluation.report.page import table

HEADS = ("by", "group", "jobs", "mean before", "mean", "change", "p95 before", "p95", "change")
MOST = 10
"""Groups of a grouping that a table shows; the largest, as they come."""


def who_pays_rows(groups: Iterable[GroupWaits], most: int = MOST) -> list[tuple[str, ...]]:
    """One row of text per group, at most so many of each grouping.

    >>> who_pays_rows([GroupWaits("size", "1 GPU", 9, 100.0, 50.0, 0.0, 60.0)])
    [('size', '1 GPU', '9', '1.7 min', '50.0 s', '-50 %', '0 s', '1.0 min', 'new')]
    """
    shown: dict[str, int] = {}
    rows: list[tuple[str, ...]] = []
    for group in groups:
        shown[group.grouping] = shown.get(group.grouping, 0) + 1
        if shown[group.grouping] <= most:
            rows.append(
                (
                    group.grouping,
                    group.name,
                    f"{group.jobs:,}",
                    duration(group.baseline_mean),
                    duration(group.mean),
                    _change(group.mean_change),
                    duration(group.baseline_p95),
                    duration(group.p95),
                    _change(group.p95_change),
                )
            )
    return rows


def who_pays_section(title: str, note: str, groups: Sequence[GroupWaits]) -> str:
    """The same as a section of a report; names come from outside and are escaped."""
    head = "".join(f"<th scope='col'>{escape(text)}</th>" for text in HEADS)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>"
        for row in who_pays_rows(groups)
    )
    return (
        f"<section><h2>{escape(title)}</h2>{table(title, head, body)}"
        f"<p class='note'>{escape(note)}</p></section>"
    )


def _change(part: float) -> str:
    return "new" if math.isinf(part) else f"{100 * part:+.0f} %"
