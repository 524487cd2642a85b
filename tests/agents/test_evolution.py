"""Evolution strategies, and the episodes that they learn from."""

from __future__ import annotations

import numpy as np

from dovetail.agents.episodes import Outcome, make_episodes, resized
from dovetail.agents.evolution import Evolution
from dovetail.domain.cluster_toml import cluster_from_toml
from dovetail.policies.ordering import ORDERINGS
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of


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


def test_an_episode_scores_zero_against_a_rival_that_is_as_good() -> None:
    assert Outcome(600.0, 3.0).ratio_to(Outcome(600.0, 3.0)) == 0.0
    assert Outcome(600.0, 1.5).ratio_to(Outcome(600.0, 3.0)) < 0.0


def test_episodes_have_a_queue_and_their_rival_is_the_best_heuristic() -> None:
    trace = synthesize(WORKLOADS["helios"], jobs=3000, seed=1, load=1.0, cluster_gpus=64)
    episodes = make_episodes(trace, cluster_of("8x8"), count=3, length=200, seed=0)
    assert len(episodes) == 3
    for episode in episodes:
        assert episode.rival.wait >= 60.0
        assert episode.window.own.sum() == 200
        saf = episode.play(ORDERINGS["saf"])
        assert saf.wait >= episode.rival.wait
        assert saf.bsld >= episode.rival.bsld


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
