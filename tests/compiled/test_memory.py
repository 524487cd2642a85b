"""What threads of compiled code do with the same memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.compiled.memory import add_at_once, fetch
from dovetail.domain.jobs import Ints

COUNT = 300_000


@kernel
def take_turns(taken: Ints, times: Ints) -> None:
    mine = add_at_once(taken, 1)
    while mine < len(times):
        times[mine] += 1
        mine = add_at_once(taken, 1)


def test_what_threads_take_from_a_counter_each_has_alone() -> None:
    taken, times = np.zeros(1, np.int64), np.zeros(COUNT, np.int64)
    take_turns(taken.copy(), times[:0])  # compiled
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(take_turns, taken, times) for _ in range(4)]:
            done.result()
    assert np.all(times == 1)
    assert taken[0] == COUNT + 4  # everyone was told once that nothing is left


@kernel
def ask_for(values: Ints) -> int:
    fetch(values.ctypes.data, 8 * len(values))
    return int(values[0])


def test_asking_for_memory_changes_nothing() -> None:
    values = np.arange(5, 105)
    assert ask_for(values) == 5
    assert np.array_equal(values, np.arange(5, 105))
