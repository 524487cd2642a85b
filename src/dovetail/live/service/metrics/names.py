"""Names of partitions and reasons as label values: readable, short and few.

Names come from strangers, and every new one is a time series that Prometheus keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from dovetail.live.cycle.report import Load

OTHER = "other"
MOST_PARTITIONS = 64
MOST_REASONS = 32
LONGEST = 100  # characters of a label

T = TypeVar("T")


def label(name: str) -> str:
    """A name without what cannot be printed or encoded; quotes are the exposition's affair.

    >>> label("gp\\u202eu\\n"), label("")
    ('gp?u?', '?')
    """
    shown = "".join(letter if letter.isprintable() else "?" for letter in name[:LONGEST])
    return shown or "?"


def bounded_loads(partitions: Mapping[str, Load]) -> Mapping[str, Load]:
    """The first partitions by name, the rest summed up as `other`, without waits.

    By name: by size, the series of a partition would come and go.
    """
    bounded: dict[str, Load] = {}
    for name, load in _few(partitions, MOST_PARTITIONS):
        # Quantiles of several partitions together cannot be had from those of each.
        bounded[name] = _sum(bounded[name], load) if name in bounded else load
    if OTHER in bounded:
        bounded[OTHER] = _sum(bounded[OTHER], Load())
    return bounded


def bounded_counts(counts: Mapping[str, int]) -> Mapping[str, int]:
    """The first reasons by name, the rest summed up as `other`."""
    bounded: dict[str, int] = {}
    for name, count in _few(counts, MOST_REASONS):
        bounded[name] = bounded.get(name, 0) + count
    return bounded


def _few(values: Mapping[str, T], most: int) -> list[tuple[str, T]]:
    """Pairs of label and value; different names may get the same label."""
    labels = sorted({label(name) for name in values} - {OTHER})[:most]
    kept = set(labels)
    return [
        (shown if (shown := label(name)) in kept else OTHER, value)
        for name, value in sorted(values.items())
    ]


def _sum(one: Load, two: Load) -> Load:
    return Load(*(a + b for a, b in zip(one[:4], two[:4], strict=True)))
