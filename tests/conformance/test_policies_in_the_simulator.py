"""Every ordering and placement, with every backfill, ends and gives a legal schedule."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate
from dovetail.testing import check_ordering
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of
from tests.conformance.functions import FUNCTIONS, function_ordering
from tests.oracles.invariants import check

every_backfill = pytest.mark.parametrize("backfill", list(Backfill), ids=lambda b: b.value)


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Crowded, with gangs, single GPUs and kinds of jobs."""
    return synthesize(WORKLOADS["pai"], jobs=150, seed=3, load=2.0, cluster_gpus=48)


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """Two GPU types, two sizes of nodes, three switches."""
    return cluster_of("4x8:v100,2x4:t4,1x8:t4", switches="aabbccc", speed={"t4": 0.5})


def replay(
    trace: Trace, cluster: Cluster, order: str, placement: str, backfill: Backfill
) -> Schedule:
    return simulate(
        trace,
        cluster,
        ORDERINGS[order] if order in ORDERINGS else function_ordering(order),
        PLACEMENTS[placement],
        backfill,
        make_estimates(trace, "noisy:1", seed=5),
        HISTORY,
    )


@every_backfill
@pytest.mark.parametrize("placement", list(PLACEMENTS))
def test_every_placement_is_legal_and_ends(
    trace: Trace, cluster: Cluster, placement: str, backfill: Backfill
) -> None:
    schedule = replay(trace, cluster, "fcfs", placement, backfill)
    check(schedule)
    assert np.isfinite(schedule.end[schedule.ran]).all()


@every_backfill
@pytest.mark.parametrize("order", [*ORDERINGS, *FUNCTIONS])
def test_every_ordering_is_legal_and_ends(
    trace: Trace, cluster: Cluster, order: str, backfill: Backfill
) -> None:
    schedule = replay(trace, cluster, order, "best-fit", backfill)
    check(schedule)
    assert np.isfinite(schedule.end[schedule.ran]).all()


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_a_plain_function_is_held_to_what_every_ordering_is(name: str) -> None:
    check_ordering(function_ordering(name))
