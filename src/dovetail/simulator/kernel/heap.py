"""A binary heap of rows by (key, row), the lowest on top, and sorting by it."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.domain.jobs import Floats, Ints


@inner
def sort_by_score(values: Floats, rows: Ints) -> None:
    """Put rows in the order of (score, row), and the scores with them: a heap sort."""
    for first in range((len(rows) >> 1) - 1, -1, -1):
        sift(rows, values, first, len(rows))
    for last in range(len(rows) - 1, 0, -1):  # the lowest goes to the end,
        _swap(values, rows, 0, last)
        sift(rows, values, 0, last)
    for at in range(len(rows) >> 1):  # so that all of it stands the wrong way round
        _swap(values, rows, at, len(rows) - 1 - at)


@inner
def _swap(values: Floats, rows: Ints, one: int, other: int) -> None:
    values[one], values[other] = values[other], values[one]
    rows[one], rows[other] = rows[other], rows[one]


@inner
def sift(rows: Ints, keys: Floats, at: int, count: int) -> None:
    """Let an entry of the heap sink to its place."""
    row, key = rows[at], keys[at]
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and _precedes(
            keys[child + 1], rows[child + 1], keys[child], rows[child]
        ):
            child += 1
        if not _precedes(keys[child], rows[child], key, row):
            break
        rows[at], keys[at] = rows[child], keys[child]
        at = child
    rows[at], keys[at] = row, key


@inner
def _precedes(key: float, row: int, other_key: float, other_row: int) -> bool:
    return key < other_key or (key == other_key and row < other_row)
