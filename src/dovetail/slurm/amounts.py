"""Amounts with or without a unit letter: CPUs `12.5K`, memory `3000M`.

>>> amount_of("2K"), gigabytes_of("512M"), gigabytes_of("2048")
(2048.0, 0.5, 2.0)

All units are powers of 1024, of counts, too: so does Slurm's convert_num_unit.
"""

from __future__ import annotations

import math
import re

MEGABYTE, GIGABYTE = 1024.0**2, 1024.0**3
_UNITS = {"K": 1024.0, "M": MEGABYTE, "G": GIGABYTE, "T": 1024.0**4, "P": 1024.0**5}
_AMOUNT = re.compile(r"(\d{1,18}(?:\.\d{0,9})?|\.\d{1,9})([KMGTP]?)", re.ASCII)


def amount_of(text: str, bare: float = 1.0) -> float:
    """A number times its unit; `bare` is the unit where none is written; NaN: not readable."""
    found = _AMOUNT.fullmatch(text)
    return float(found[1]) * _UNITS.get(found[2], bare) if found else math.nan


def gigabytes_of(text: str) -> float:
    """Memory in GB; Slurm counts it in MB where it writes no unit."""
    return amount_of(text, MEGABYTE) / GIGABYTE
