"""Counts and lists as guardrails word them."""

from __future__ import annotations

from collections.abc import Sequence


def jobs(count: int) -> str:
    """A number of jobs.

    >>> jobs(1), jobs(2500)
    ('1 job', '2,500 jobs')
    """
    return some(count, "job")


def some(count: int, thing: str) -> str:
    """A number of things.

    >>> some(1, "change"), some(0, "change")
    ('1 change', '0 changes')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def shortened(parts: Sequence[str], most: int = 3) -> str:
    """The first parts, and how many more there are.

    >>> shortened(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = len(parts) - most
    return ", ".join(parts[:most]) + (f" and {more:,} more" if more > 0 else "")
