"""What a policy wishes and no order tells Slurm is counted, and no part of what the twin says."""

from __future__ import annotations

import pytest

from dovetail.domain.policy import Ordering
from dovetail.live.backends.recorded import MemoryCluster
from dovetail.live.config import ActConfig
from dovetail.live.cycle.decider import KEEPS, MAY_NOT_PASS, Decider
from dovetail.live.model.snapshot import Snapshot
from dovetail.policies.ordering.index import IndexWeights, index, order_alone
from dovetail.policies.ordering.static import SJF
from dovetail.policies.policy import Policy

HOUR = 3600.0


def queue() -> Snapshot:
    """Two of four GPUs are free; a job of ten hours could have one of them."""
    cluster = MemoryCluster.of_nodes(1, gpus=4)
    cluster.submit(gpus=2, limit=5 * HOUR)
    cluster.advance(60.0)
    cluster.submit(gpus=1, limit=10 * HOUR)
    cluster.submit(gpus=4, limit=HOUR)
    return cluster.snapshot()


class Fixed(Decider):
    """With an ordering of its own."""

    def __init__(self, ordering: Ordering) -> None:
        super().__init__(Policy.parse("sjf"), ActConfig())
        self._order = ordering


@pytest.mark.parametrize(
    ("weights", "found"),
    [
        (IndexWeights(), {}),
        (IndexWeights(keep=10.0, patience=1e9), {KEEPS: 0, MAY_NOT_PASS: 0}),
        (IndexWeights(keep=80.0, patience=1e9), {KEEPS: 1, MAY_NOT_PASS: 0}),
        (IndexWeights(gate=-1.0), {KEEPS: 0, MAY_NOT_PASS: 1}),
    ],
)
def test_jobs_that_fit_against_the_policys_wish_are_counted(
    weights: IndexWeights, found: dict[str, int]
) -> None:
    ordering = index(weights)
    assert dict(Fixed(ordering).decide(queue()).unexpressed) == found
    assert dict(Fixed(order_alone(ordering)).decide(queue()).unexpressed) == {}


def test_the_order_is_the_same_without_the_wishes() -> None:
    ordering = index(IndexWeights(gpus=1.5, fits=0.9, keep=3.0, gate=-1.0))
    assert Fixed(order_alone(ordering)).decide(queue()).score_range == (
        Fixed(ordering).decide(queue()).score_range
    )
    assert order_alone(SJF) is SJF
