"""Numbers as people read them."""

from __future__ import annotations

import math

UNKNOWN = "–"

_TIMES = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"))


def duration(seconds: float) -> str:
    """Seconds in the unit that gives one to four digits.

    >>> [duration(s) for s in (0.0, 12.34, 95.0, 8_280.0, 400_000.0)]
    ['0 s', '12.3 s', '1.6 min', '2.3 h', '4.6 d']
    """
    if math.isnan(seconds):
        return UNKNOWN
    for size, unit in _TIMES:
        # What would round up to a whole larger unit is written in that unit.
        if seconds >= size * 0.99917:
            return f"{seconds / size:.1f} {unit}"
    return "0 s" if seconds == 0 else f"{seconds:.1f} s"


def factor(value: float) -> str:
    """A ratio: two decimals where they matter.

    >>> [factor(v) for v in (1.0, 3.14159, 182.81, 5123.4)]
    ['1.00', '3.14', '183', '5,123']
    """
    if math.isnan(value):
        return UNKNOWN
    return f"{value:.2f}" if value < 99.995 else f"{value:,.0f}"


def share(value: float) -> str:
    """A fraction in per cent.

    >>> share(0.8734)
    '87.3 %'
    """
    return UNKNOWN if math.isnan(value) else f"{100 * value:.1f} %"


def count(value: float) -> str:
    """How many; with a decimal where it is a mean over windows.

    >>> [count(v) for v in (0.0, 12345.0, 3.25)]
    ['0', '12,345', '3.2']
    """
    if math.isnan(value):
        return UNKNOWN
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"
