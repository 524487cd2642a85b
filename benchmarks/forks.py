"""Work shared out among copies of this process, which need not load kernels and histories again.

found = in_forks(measure, policies, workers=4)      # in the order of the policies
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

_HELD: list[Any] = []  # of a copy: the work, and all items; set once by its initializer


def in_forks(work: Callable[[Any], Any], items: Iterable[Any], workers: int) -> list[Any]:
    """What `work` makes of each item; one worker is this process itself."""
    every = list(items)
    if workers <= 1:
        return [work(item) for item in every]
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, context, _hold, (work, every)) as pool:
        return list(pool.map(_work_on, range(len(every))))


def _hold(work: Callable[[Any], Any], every: list[Any]) -> None:
    _HELD.extend((work, every))


def _work_on(at: int) -> Any:
    work, every = _HELD
    return work(every[at])
