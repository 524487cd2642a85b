"""Moments as Slurm's programs print them under SLURM_TIME_FORMAT=%s: seconds since 1970.

>>> moment_of("1794805572"), moment_of("Unknown")
(1794805572.0, nan)

Without that setting they print local time and no zone. Only files of the past are read so, in
`traces`, where differences count and not the hour.
"""

from __future__ import annotations

import math


def moment_of(text: str) -> float:
    """Seconds since 1970; NaN: not known or never."""
    digits = text.isascii() and text.isdecimal() and len(text) <= 15
    return float(text) if digits and text != "0" else math.nan
