"""Numbers as people read them: times with a unit, shares in percent."""

from __future__ import annotations

import math

_UNITS = ((86_400.0, "d"), (3600.0, "h"), (60.0, "min"))


def duration(seconds: float | None) -> str:
    """Seconds in the largest unit of which there is at least one.

    >>> duration(5400)
    '1.5 h'
    """
    if seconds is None or not math.isfinite(seconds):
        return "–"
    for size, unit in _UNITS:
        if abs(seconds) >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} s" if seconds % 1 else f"{seconds:.0f} s"


def percent(share: float | None) -> str:
    """A share of one as percent."""
    return "–" if share is None or not math.isfinite(share) else f"{share:.1%}"


def number(value: float | None, digits: int = 1) -> str:
    """A number with separators between thousands."""
    return "–" if value is None or not math.isfinite(value) else f"{value:,.{digits}f}"
