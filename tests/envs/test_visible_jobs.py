"""Which jobs a decision shows, and in which order, against the obvious way to say so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.compiled.functions import kernel
from dovetail.domain.jobs import Floats, Ints
from dovetail.envs.visible_jobs import ENDS, SHOWN, own_scratch, show, sort_stably
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator.kernel.rules import Rules
from dovetail.simulator.kernel.state import demand, scores, waiting
from dovetail.simulator.kernel.steps import choose, go_on, is_candidate
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of
from tests.envs.test_stepping import prepared


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


@kernel
def first_decision(world: Any, rules: Rules) -> bool:
    return go_on(world[0], rules, 0)


@kernel
def take(world: Any, rules: Rules, job: int) -> bool:
    return go_on(world[0], rules, choose(world[0], rules, job))


@kernel
def shown_by(world: Any, out: Ints) -> int:
    return show(world[0], own_scratch(world[0]), out)


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
    trace = synthesize(WORKLOADS["helios"], jobs=900, seed=3, load=6.0, cluster_gpus=64)
    estimates = make_estimates(trace, "noisy:1")
    simulation, rules = prepared(trace, cluster_of("8x8"), order, "best-fit", estimates)
    world, random = simulation.tables.world, np.random.default_rng(0)
    rows, values, out = np.empty(900, np.int64), np.empty(900), np.empty(SHOWN, np.int64)
    more, longest, shortest = first_decision(world, rules), 0, 900
    while more:
        count = candidates(world, rows, values)
        longest, shortest = max(longest, count), min(shortest, count)
        shown = shown_by(world, out)
        assert out[:shown].tolist() == to_be_shown(rows[:count], values[:count])
        more = take(world, rules, int(out[random.integers(shown)]))
    assert shortest == 2
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
