"""Debug mode: the state is tested after every event, and a broken state is found."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.policy import Backfill
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY
from dovetail.simulator import Simulation, simulate
from dovetail.simulator.invariants import BrokenInvariant, check
from tests.builders import cluster_of, estimates_of, job, trace_of
from tests.oracles.cases import Case, cases, hungry
from tests.simulator.test_invariants import quick


@settings(quick, max_examples=60)
@given(
    case=st.one_of(cases(), cases().map(hungry)),
    ordering=st.sampled_from(list(ORDERINGS)),
    placement=st.sampled_from(list(PLACEMENTS)),
    backfill=st.sampled_from(list(Backfill)),
)
def test_the_state_is_sound_after_every_event(
    case: Case, ordering: str, placement: str, backfill: Backfill
) -> None:
    simulate(
        case.trace,
        case.cluster,
        ORDERINGS[ordering],
        PLACEMENTS[placement],
        backfill,
        case.estimates,
        HISTORY,
        checked=True,
    )


def _half_way(backfill: Backfill = Backfill.EASY) -> Simulation:
    rows = job(0, 100, 2), job(0, 100, 4), job(1, 50, 8)
    simulation = Simulation(
        trace_of(*rows),
        cluster_of("2x8"),
        ORDERINGS["fcfs"],
        PLACEMENTS["best-fit"],
        backfill,
        estimates_of(*rows),
    )
    simulation.advance(2)
    check(simulation.tables)
    return simulation


@pytest.mark.parametrize(
    ("table", "column", "value", "problem"),
    [
        ("runs", "start", -5.0, "before its submission"),
        ("nodes", "cpus", 7, "do not add up"),
        ("nodes", "bits", 0, "hold the same GPU"),
        ("levels", "count", 3, "index of free GPUs"),
        ("shapes", "free", 7, "room for a chunk are counted wrong"),
        ("kinds", "idle", 5, "room for a chunk are counted wrong"),
        ("world", "delayed", 1, "delayed a reserved job"),
    ],
)
def test_a_broken_state_is_named(table: str, column: str, value: float, problem: str) -> None:
    simulation = _half_way()
    getattr(simulation.tables, table)[column][0] = value
    with pytest.raises(BrokenInvariant, match=problem):
        check(simulation.tables)


def test_a_promise_of_more_than_there_is_is_named() -> None:
    simulation = _half_way(Backfill.CONSERVATIVE)
    simulation.tables.steps["gpus"][simulation.tables.node_sets["first"][1]] = -1
    with pytest.raises(BrokenInvariant, match="more is promised"):
        check(simulation.tables)
