"""Tasks of job arrays: `1-9:2,12%3` as numbers, and numbers as ranges.

>>> sorted(tasks_of("1-9:2,12%3"))
[1, 3, 5, 7, 9, 12]
>>> ranges_of({1, 2, 3, 5})
'1-3,5'
"""

from __future__ import annotations

from collections.abc import Iterable


def tasks_of(text: str) -> set[int]:
    """The tasks; how many may run at once, after %, is left out."""
    tasks: set[int] = set()
    for part in text.partition("%")[0].split(","):
        span, _, step = part.partition(":")
        low, _, high = span.partition("-")
        tasks.update(range(int(low), int(high or low) + 1, int(step or 1)))
    return tasks


def ranges_of(numbers: Iterable[int]) -> str:
    """Numbers as scontrol takes them: 1-3,5,9-12."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
