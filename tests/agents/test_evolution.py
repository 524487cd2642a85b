"""Evolution strategies, where they start, and what they make small."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dovetail.agents.choice.candidates import PolicyCandidate
from dovetail.agents.evolution.search import Evolution
from dovetail.agents.evolution.training import EvolutionMember, start_at
from dovetail.agents.replays import ReplayCell, Score
from dovetail.policies.learned.families import FAMILIES
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of

TRACE = synthesize(WORKLOADS["helios"], jobs=3000, seed=1, load=1.0, cluster_gpus=64)


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


def test_a_loss_is_led_by_the_worse_of_both_measures_and_by_who_pays() -> None:
    assert Score(-0.2, -0.2).loss == pytest.approx(-0.2)
    assert Score(-0.4, 0.0).loss == pytest.approx(-0.1)
    assert Score(0.0, -0.4).loss == Score(-0.4, 0.0).loss
    assert Score(-0.2, -0.2, (0.05, math.nan)).loss == pytest.approx(-0.2)
    assert Score(-0.2, -0.2, (0.5,)).loss == pytest.approx(0.3 - math.log(1.1))


@pytest.mark.parametrize("family", ["index", "forecast-index"])
@pytest.mark.parametrize("order", ["saf", "sjf"])
@pytest.mark.parametrize("placement", ["best-fit", "lifetime"])
def test_an_index_starts_as_the_choice(order: str, placement: str, family: str) -> None:
    choice = PolicyCandidate(order, "exact", placement)
    start = EvolutionMember(family, start_at(FAMILIES[family], choice), "exact")
    cell = ReplayCell(TRACE, cluster_of("8x8"), None, first=1000)
    # Logarithms break a few ties of g · e in another way.
    assert cell.play(start).against(cell.play(choice)).gain == pytest.approx(0.0, abs=0.02)
