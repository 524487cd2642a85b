"""Which jobs a decision shows, and in which order, against the obvious way to say so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.compiled.functions import kernel
from dovetail.domain.jobs import Floats, Ints
from dovetail.envs import Pool, QueuePriorityConfig, SyntheticWindows
from dovetail.envs.batch import QueuePriorityBatch
from dovetail.envs.visible_jobs import ENDS, SHOWN, sort_stably
from dovetail.simulator.kernel.state import demand, scores, waiting
from dovetail.simulator.kernel.steps import is_candidate


@kernel
def candidates(world: Any, rows: Ints, values: Floats) -> int:
    w, count = world[0], 0
    for number in range(w.demand_count):
        mine = demand(w, number)
        if mine.open:
            for at in range(mine.low, mine.high):
                if is_candidate(w, number, waiting(w)[at]):
                    rows[count], values[count] = waiting(w)[at], scores(w)[at]
                    count += 1
    return count


def to_be_shown(rows: Ints, values: Floats) -> list[int]:
    """All in the order of (score, row); of many only the oldest, the newest and the best others."""
    ordered: list[int] = rows[np.lexsort((rows, values))].tolist()
    if len(rows) <= SHOWN:
        return ordered
    by_age = np.sort(rows).tolist()
    ends = {*by_age[:ENDS], *by_age[-ENDS:]}
    best = [row for row in ordered if row not in ends][: SHOWN - 2 * ENDS]
    return [row for row in ordered if row in ends or row in set(best)]


@pytest.mark.parametrize("order", ["fcfs", "lcfs", "saf", "wfp3", "priority"])
def test_what_is_shown_is_the_queue_in_the_bases_order(order: str) -> None:
    windows = SyntheticWindows(cluster="8x8", jobs=2000, load=6.0, length=600)
    batch = QueuePriorityBatch(Pool(QueuePriorityConfig(windows, order=order, pool=1)), 1)
    stage, random = batch.stage, np.random.default_rng(0)
    batch.begin({"window": 0})
    rows, values = np.empty(batch.pool.most_jobs, np.int64), np.empty(batch.pool.most_jobs)
    longest, shortest = 0, SHOWN
    while not batch.dones[0]:
        count = candidates(stage.worlds, rows, values)
        longest, shortest = max(longest, count), min(shortest, count)
        shown = int(stage.shown[0])
        assert stage.rows[0, :shown].tolist() == to_be_shown(rows[:count], values[:count])
        batch.step(random.integers(shown, size=1))
    assert shortest < 10
    assert longest > SHOWN


@kernel
def sort(rows: Ints, keys: Floats) -> None:
    sort_stably(rows, keys, np.empty_like(rows), np.empty_like(keys), len(rows))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(keys=st.lists(st.integers(0, 20), max_size=80))
def test_rows_with_equal_keys_stay_as_they_were(keys: list[int]) -> None:
    rows = np.arange(len(keys))
    sort(rows, np.array(keys, np.float64))
    assert rows.tolist() == np.argsort(np.array(keys), kind="stable").tolist()
