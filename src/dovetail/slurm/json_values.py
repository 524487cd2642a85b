"""Numbers in Slurm's JSON: plain in old versions, {set, infinite, number} since 23.02.

>>> plain({"set": True, "infinite": False, "number": 60}), plain(60), plain({"set": False})
(60, 60, None)
>>> number_of({"set": True, "infinite": True, "number": 0})
inf
"""

from __future__ import annotations

import math
from typing import Any


def plain(value: Any) -> Any:
    """The value itself; None: not set; infinity where there is no limit."""
    if not isinstance(value, dict):
        return value
    if not value.get("set", True):
        return None
    return math.inf if value.get("infinite") else value.get("number")


def number_of(value: Any, default: float = math.nan) -> float:
    """As a float; the default where it is not set; to be set without a number is an error."""
    found = plain(value)
    if found is None and isinstance(value, dict) and value.get("set", True):
        raise ValueError(f"a number that is set has none: {value!a:.60}")
    return default if found is None else float(found)
