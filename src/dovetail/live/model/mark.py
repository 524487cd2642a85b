"""The mark by which values that Dovetail set can be told from those that people set.

>>> marked_below(1000, base=300), is_marked(987 - 300), is_marked(500)
(987, True, False)

A factor of ours leaves 37 when divided by 50, wherever there is room to choose: people write round
numbers, which never do, and of values at random one in fifty does. It is only looked at when the
journal, which knows better, is lost. Where there is no room, values are written down besides: see
`ledger.unmarked`.
"""

from __future__ import annotations

from typing import overload

from dovetail.domain.jobs import Bools, Ints

STEP, MARK = 50, 37


@overload
def is_marked(factor: int) -> bool: ...


@overload
def is_marked(factor: Ints) -> Bools: ...


def is_marked(factor: int | Ints) -> bool | Bools:
    """Whether a factor, or each of many, follows our pattern."""
    return factor % STEP == MARK


def marked_below(value: int, base: int) -> int:
    """The next value, down by less than STEP, that differs from `base` by a marked factor."""
    return value - (value - base - MARK) % STEP
