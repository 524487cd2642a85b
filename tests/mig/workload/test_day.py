"""The published MIG day: its jobs, its cluster, and the rows of its table."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER, MigCluster
from dovetail.mig.metrics import summary
from dovetail.mig.policies import PLACERS
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import TIGHT, mig_day


def test_the_published_cluster_has_twenty_slices_on_eight_gpus() -> None:
    assert len(MIG_DAY_CLUSTER.models) == 8
    assert len(MIG_DAY_CLUSTER.slices) == 20


def test_a_day_has_over_four_thousand_jobs_four_fifths_of_them_inference() -> None:
    days = [mig_day(seed=seed) for seed in range(20)]
    assert np.mean([len(day) for day in days]) == pytest.approx(4170, rel=0.01)
    codes = np.concatenate([day.trace.jobs.kind.names() for day in days])
    assert np.mean(codes == "inference") == pytest.approx(0.8, abs=0.005)


def test_run_times_follow_the_published_curves() -> None:
    day = mig_day(seed=1)
    ratios = day.times[:, [1]] / day.times[:, [2, 3, 4, 7]]
    training = np.array(day.trace.jobs.kind.names()) == "training"
    curves = np.unique(ratios.round(9), axis=0)
    assert len(curves) == 4
    assert np.mean(np.isclose(ratios[~training, 3], 7.0)) == pytest.approx(2 / 3, abs=0.02)
    assert np.median(day.times[training, 1]) / 60 == pytest.approx(np.sqrt(40 * 60), rel=0.02)
    assert np.mean(day.times[~training, 1]) / 60 == pytest.approx(3.0, rel=0.05)


@pytest.mark.parametrize("slack", [(2.0, 4.0), TIGHT])
def test_deadlines_lie_within_the_slack(slack: tuple[float, float]) -> None:
    day = mig_day(seed=2, slack=slack)
    given = (day.deadline - day.trace.jobs.submit) / day.times[:, 7]
    assert slack[0] <= given.min() < slack[0] + 0.01
    assert slack[1] - 0.01 < given.max() <= slack[1]


def test_the_same_seed_gives_the_same_day_and_the_slack_changes_deadlines_only() -> None:
    day, same, tight = mig_day(seed=3), mig_day(seed=3), mig_day(seed=3, slack=TIGHT)
    assert day.trace.digest() == same.trace.digest()
    np.testing.assert_array_equal(day.times, tight.times)
    np.testing.assert_array_equal(day.trace.jobs.submit, tight.trace.jobs.submit)


def test_the_rate_multiplies_arrivals() -> None:
    assert len(mig_day(seed=0, rate=10.0)) == pytest.approx(2085, rel=0.05)
    with pytest.raises(ConfigError, match="rate is 0"):
        mig_day(rate=0.0)


@pytest.mark.parametrize(
    ("placer", "late"),
    [("eft", 42.7), ("largest-first", 42.7), ("smallest-first", 54.3), ("random", 50.1)],
)
def test_heuristics_land_on_the_published_share_of_late_jobs(placer: str, late: float) -> None:
    # Published over ten days with a spread of 5 to 6 points between days: their mean is known to
    # two points, and so is ours over forty to one.
    shares = [
        summary(simulate_mig(mig_day(seed=seed), MIG_DAY_CLUSTER, PLACERS[placer], seed=seed))[
            "late_share"
        ]
        for seed in range(40)
    ]
    assert 100 * float(np.mean(shares)) == pytest.approx(late, abs=3.0)


def test_whole_gpus_are_far_later_than_slices_at_the_published_rate() -> None:
    # Published without MIG: tardiness 96.7 minutes at 20x the base rate, against about 1.
    whole = MigCluster.parse("8xa100-40-rounded")
    days = [mig_day(seed=seed, slack=TIGHT) for seed in range(5)]
    late = [summary(simulate_mig(day, whole, PLACERS["eft"]))["tardiness_mean"] for day in days]
    assert 50 < float(np.mean(late)) < 200
