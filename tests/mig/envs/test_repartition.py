"""The repartitioning environment: a matrix in, the simulator's own accounts out."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dovetail.domain.jobs import Floats
from dovetail.envs import MIG_REPARTITION, InvalidAction
from dovetail.mig.envs import MigRepartitionBatch, MigRepartitionConfig
from dovetail.mig.envs.days import GivenDays, MigDays
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER, MigCluster
from dovetail.mig.metrics import energy_tardiness, summary
from dovetail.mig.policies import PLACERS
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import mig_day

STAY = 20.0 * np.eye(14)
"""Logits with which every GPU stays as it is."""


def days(count: int) -> GivenDays:
    return GivenDays(tuple(mig_day(seed=seed, hours=2.0) for seed in range(count)))


def test_gymnasium_finds_nothing_wrong() -> None:
    config = MigRepartitionConfig(MigDays(hours=1.0), pool=2)
    check_env(gymnasium.make(MIG_REPARTITION, config=config).unwrapped, skip_render_check=True)


def test_gpus_that_stay_as_they_are_give_the_static_schedule() -> None:
    given = days(3)
    config = MigRepartitionConfig(given, placer=PLACERS["eft"], most_likely=1)
    batch = MigRepartitionBatch(config, count=3, threads=2)
    batch.begin({"day": [0, 1, 2]})
    for i, (infos, rewards) in played(batch, STAY).items():
        schedule = summary(simulate_mig(given.workloads[i], MIG_DAY_CLUSTER, PLACERS["eft"]))
        for name, value in infos.items():
            assert value == pytest.approx(schedule[name], rel=1e-9), name
        et = energy_tardiness(
            schedule["tardiness_mean"], schedule["energy_watt_minutes"], config.energy_weight
        )
        # The first few events come before the first decision, and cost no tardiness yet.
        assert -rewards == pytest.approx(et, rel=0.02)
    batch.close()


def test_a_matrix_that_leads_to_whole_gpus_leaves_whole_gpus() -> None:
    config = MigRepartitionConfig(days(1), most_likely=1)
    batch = MigRepartitionBatch(config)
    batch.begin({"day": 0})
    seen = batch.seen
    whole = np.zeros((1, 14, 14))
    whole[:, :, 0] = 10.0
    assert seen[0, 0] == 0.25
    for _ in range(60):
        batch.step(whole)
    assert seen[0, 0] == pytest.approx(1.0)


def test_a_gpu_draws_only_among_the_most_likely_ways() -> None:
    cluster = MigCluster.parse("6xa100-40:19")
    config = MigRepartitionConfig(days(1), cluster, most_likely=2)
    batch = MigRepartitionBatch(config)
    batch.begin({"day": 0})
    seen = batch.seen
    logits = np.zeros((1, 14, 14))
    logits[:, :, 3], logits[:, :, 8] = 5.0, 4.0
    visited = np.zeros(14)
    for _ in range(80):
        batch.step(logits)
        visited = np.maximum(visited, seen[0, :14])
    # Ways 3 and 8, and the one that all have begun with.
    assert set(np.flatnonzero(visited).tolist()) == {3, 8, 13}


def test_histograms_are_shares_and_the_ways_add_up_to_one() -> None:
    batch = MigRepartitionBatch(MigRepartitionConfig(days(1)))
    batch.begin({"day": 0})
    seen = batch.seen
    for _ in range(100):
        batch.step(np.zeros((1, 14, 14)))
        assert seen[0, :14].sum() == pytest.approx(1.0, abs=1e-5)
        waiting = seen[0, 14:24].sum()
        assert waiting == pytest.approx(seen[0, 24:34].sum(), abs=1e-5)
        assert waiting == pytest.approx(1.0, abs=1e-5) or waiting == 0.0


def test_logits_of_the_wrong_shape_are_refused() -> None:
    batch = MigRepartitionBatch(MigRepartitionConfig(days(1)))
    batch.begin()
    with pytest.raises(InvalidAction, match="expected finite ones"):
        batch.step(np.zeros((1, 12, 12)))


def played(batch: MigRepartitionBatch, logits: Floats) -> dict[int, tuple[dict[str, float], float]]:
    """Play until every environment has ended a day; how it went, and the rewards' sum."""
    ended: dict[int, tuple[dict[str, float], float]] = {}
    totals = np.zeros(batch.count)
    while len(ended) < batch.count:
        batch.step(np.broadcast_to(logits, (batch.count, 14, 14)))
        totals += batch.rewards
        for i in np.flatnonzero(batch.dones).tolist():
            how = {name: float(part[i]) for name, part in batch.ended().items()}
            ended.setdefault(i, (how, float(totals[i])))
    return ended
