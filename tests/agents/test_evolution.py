"""Evolution strategies, and the replays that they learn from."""

from __future__ import annotations

import numpy as np
import pytest
from dovetail.agents.evolution.replays import Score, make_replays, resized

from dovetail.agents.evolution.search import Evolution
from dovetail.domain.cluster_toml import cluster_from_toml
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of

TRACE = synthesize(WORKLOADS["helios"], jobs=3000, seed=1, load=1.0, cluster_gpus=64)
REPLAYS = make_replays(TRACE, cluster_of("8x8"), count=3, length=800, seed=0)


def test_evolution_finds_the_bottom_of_a_stretched_valley() -> None:
    stretch = np.logspace(0, 2, 20)
    search = Evolution(np.ones(20), spread=0.3, population=16, seed=0)
    for _ in range(400):
        found = search.ask()
        search.tell(found, np.sum(stretch * found**2, axis=1))
    assert np.sum(stretch * search.mean**2) < 1e-3


def test_the_same_seed_gives_the_same_search() -> None:
    one, other = (Evolution(np.zeros(5), 0.1, 8, seed=3) for _ in range(2))
    for search in (one, other):
        for _ in range(5):
            found = search.ask()
            search.tell(found, np.sum((found - 1.0) ** 2, axis=1))
    assert np.array_equal(one.mean, other.mean)


def test_saf_scores_nothing_against_itself_and_the_worst_order_does_worse() -> None:
    for replay in REPLAYS:
        place = PLACEMENTS["best-fit"]
        assert replay.score(ORDERINGS["saf"], place) == Score(0.0, 0.0)
        assert replay.score(ORDERINGS["ljf"], place).loss > 0.3


def test_replays_have_a_queue_and_leave_the_filling_of_the_cluster_out() -> None:
    assert len(REPLAYS) == 3
    for replay in REPLAYS:
        assert np.exp(replay.rival[0]).mean() >= 120.0
        assert (len(replay.trace), replay.first) == (800, 80)
        assert replay.rival.shape == (2, 4)


def test_a_loss_is_led_by_the_worse_of_both_measures() -> None:
    assert Score(-0.2, -0.2).loss == pytest.approx(-0.2)
    assert Score(-0.4, 0.0).loss == pytest.approx(-0.1)
    assert Score(0.0, -0.4).loss == Score(-0.4, 0.0).loss


def test_a_resized_cluster_keeps_its_kinds_and_partitions() -> None:
    cluster = cluster_from_toml(
        "[[nodes]]\nname='a[0-9]'\ngpus=8\n[[nodes]]\nname='b[0-3]'\ngpus=4\ntype='t4'\n"
        "[partitions.old]\nnodes=['b[0-3]']"
    )
    larger, smaller = resized(cluster, 1.5), resized(cluster, 0.5)
    assert [node.gpus for node in larger.nodes].count(8) == 15
    assert [node.gpus for node in smaller.nodes].count(4) == 2
    assert len(larger.partitions[0].nodes) == 6
    assert len({node.name for node in larger.nodes}) == 21
