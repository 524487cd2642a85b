"""Slurm's durations: `30`, `30:00`, `12:30:00`, `1-12`, `1-12:30`, `1-12:30:00`.

>>> [seconds_of(text) for text in ("30", "30:00", "12:30:00", "1-12", "1-12:30:00")]
[1800.0, 1800.0, 45000.0, 129600.0, 131400.0]
>>> seconds_of("UNLIMITED")
nan
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

NO_LIMIT = frozenset({"UNLIMITED", "INFINITE", "NONE", "Partition_Limit", "INVALID"})
"""Words in the place of a duration: there is no limit, or the partition's holds."""

# Of a number: a stranger's file may hold millions of digits, which take quadratic time to read.
_CLOCK = re.compile(
    r"(?:(\d{1,9})-(?=\d))?(\d{1,12})(?::(\d{1,9}))?(?::(\d{1,9}))?(\.\d{1,9})?", re.ASCII
)


@lru_cache(maxsize=4096)
def seconds_of(text: str) -> float:
    """In seconds; NaN: no limit, or no duration at all.

    A bare number are minutes, as everywhere in Slurm; after days it is hours.
    """
    found = _CLOCK.fullmatch(text)
    if found is None:
        return math.nan
    days, first, second, third, fraction = found.groups()
    if days is not None or third is not None:
        hours, minutes, seconds = int(first), int(second or 0), int(third or 0)
    else:
        hours, minutes, seconds = 0, int(first), int(second or 0)
    whole = 86_400 * int(days or 0) + 3600 * hours + 60 * minutes + seconds
    return float(whole) if fraction is None else whole + float(fraction)
