"""The search for the best static configurations."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.mig.evaluation.static_search import best_configurations
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.metrics import summary
from dovetail.mig.policies import PLACERS
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import mig_day


def test_it_finds_the_best_of_all_ways_to_cut_two_gpus() -> None:
    days = [mig_day(seed=seed, rate=4.0, hours=4.0) for seed in range(2)]
    start = MigCluster.parse("2xa30-24")
    placer = PLACERS["eft"]
    found = best_configurations(days, start, placer, lambda result: result["late_share"])

    def cost(numbers: tuple[int, ...]) -> float:
        cluster = start.with_configurations(numbers)
        return float(np.mean([summary(simulate_mig(d, cluster, placer))["late_share"]
                              for d in days]))  # fmt: skip

    least = min(cost(numbers) for numbers in combinations_with_replacement(range(1, 6), 2))
    assert found.cost == pytest.approx(least)
    assert found.cost == pytest.approx(cost(found.cluster.configurations))


def test_it_needs_a_day() -> None:
    with pytest.raises(ConfigError, match="no days"):
        best_configurations([], MigCluster.parse("1xa30-24"), PLACERS["eft"])
