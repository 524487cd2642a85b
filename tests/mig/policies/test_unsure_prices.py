"""Prices that know how uncertain run times are."""

from __future__ import annotations

import math
from dataclasses import asdict
from statistics import NormalDist

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER
from dovetail.mig.policies import PLACERS, PriceWeights, UnsurePrices, priced, unsure_priced
from dovetail.mig.policies.learned.placement import placer_named
from dovetail.mig.simulator import MigRules, simulate_mig
from dovetail.mig.simulator.day_runner import DayRunner
from dovetail.mig.simulator.history import mean_rest
from dovetail.mig.workload.day import mig_day
from dovetail.mig.workload.estimates import estimates_of_days


def test_where_nothing_is_uncertain_they_decide_as_plain_prices() -> None:
    known = PriceWeights(rent7=-2.0, crowded=3.0, wait=0.2)
    unsure = UnsurePrices(**asdict(known), unsure=1.0, doubt=0.5, risk=2.0)
    day = mig_day(seed=6, hours=4.0)
    one = simulate_mig(day, MIG_DAY_CLUSTER, priced(known, "known", 16))
    other = simulate_mig(day, MIG_DAY_CLUSTER, unsure_priced(unsure, "unsure", 16))
    assert np.array_equal(one.start, other.start)
    assert np.array_equal(one.gpu, other.gpu)


@pytest.mark.parametrize("name", ["rent1", "doubt"])
def test_a_price_that_is_no_number_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"price {name} is nan"):
        UnsurePrices(**{name: math.nan})


@pytest.mark.parametrize("spread", [0.1, 0.5, 1.5])
@pytest.mark.parametrize("run", [0.0, 0.1, 1.0, 3.0])
def test_the_rest_of_a_lognormal_time_is_the_mean_beyond_what_has_passed(
    run: float, spread: float
) -> None:
    """Against the mean over a million quantiles of those that last longer."""
    median = 60.0
    passed = run * median
    share = NormalDist().cdf(math.log(max(passed, 1e-9) / median) / spread)
    if share > 0.999:
        return
    quantiles = share + (1 - share) * (np.arange(20_000) + 0.5) / 20_000
    times = [median * math.exp(spread * NormalDist().inv_cdf(float(q))) for q in quantiles]
    assert mean_rest(median, spread, passed) == pytest.approx(
        float(np.mean(times)) - passed, rel=0.02
    )


def test_a_job_that_lasts_far_longer_than_likely_is_expected_to_last_on() -> None:
    rests = [mean_rest(60.0, 0.3, run) for run in (60.0, 120.0, 240.0, 280.0, 480.0, 10_000.0)]
    assert all(rest > 0 and math.isfinite(rest) for rest in rests)
    assert rests[-1] > rests[2] > rests[1]


@pytest.mark.parametrize("estimates", ["exact", "noisy:0.5", "noisy:1", "noisy:1.5", "predicted"])
def test_the_shipped_placement_is_ahead_of_the_heuristics_however_little_is_known(
    estimates: str,
) -> None:
    days = [mig_day(seed=seed) for seed in range(40, 44)]
    told = estimates_of_days(days, estimates)
    with DayRunner(MIG_DAY_CLUSTER, days, MigRules(), estimates=told) as runner:
        late, tardiness, _ = runner.play(placer_named("dovetail"), None).mean(axis=0)
        for rival in ("eft", "edf-most-packed"):
            theirs = runner.play(PLACERS[rival], None).mean(axis=0)
            assert late < 0.6 * theirs[0]
            assert tardiness < 0.9 * theirs[1]
