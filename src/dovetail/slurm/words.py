"""Slurm's words for nothing, and lists with commas.

>>> words_of("gpu,late"), words_of("(null)"), text_of("N/A")
(('gpu', 'late'), (), '')
"""

from __future__ import annotations

from functools import lru_cache

NOTHING = frozenset({"", "(null)", "N/A", "NULL", "None", "n/a", "none"})


def text_of(text: str) -> str:
    """A value, without Slurm's words for nothing."""
    return "" if text in NOTHING else text


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[str, ...]:
    """The parts of a list with commas."""
    return () if text in NOTHING else tuple(part for part in text.split(",") if part)
