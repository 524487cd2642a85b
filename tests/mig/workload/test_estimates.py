"""Estimates of run times on slices: what is told, and that nothing else is seen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints, JobColumns
from dovetail.domain.trace import Trace
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER, MigCluster
from dovetail.mig.policies import PLACERS
from dovetail.mig.policy import ClusterView
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import mig_day
from dovetail.mig.workload.estimates import (
    FIRST_GUESS,
    MigEstimates,
    estimates_of_days,
    groups,
    lengths,
    mig_estimates,
)
from dovetail.mig.workload.jobs import MigWorkload, times_table

DAY = mig_day(seed=4, hours=3.0)


@dataclass
class Listener:
    """Never cuts anything; keeps what it is told of waiting jobs."""

    told: dict[int, Floats] = field(default_factory=dict)
    name: str = "listener"
    every: int = 1

    def wanted(self, view: ClusterView) -> Ints:
        for job, times in zip(view.waiting.tolist(), view.times, strict=True):
            self.told.setdefault(job, times)
        return view.way


def jobs_of(run: list[float], kinds: list[str], gap: float = 100.0) -> MigWorkload:
    """Jobs that arrive one after the other, alike on every size of slice."""
    submit = gap * np.arange(len(run))
    columns = JobColumns(submit=submit, run=np.array(run), gpus=np.ones(len(run), int), kind=kinds)
    times = np.repeat(np.array(run)[:, None], 5, axis=1)
    return MigWorkload(Trace(columns.build()), times_table(times))


def test_noise_is_lognormal_and_a_job_keeps_its_own_in_a_longer_day() -> None:
    factors = mig_estimates(DAY, "noisy:0.5", seed=3).factors
    assert np.std(np.log(factors)) == pytest.approx(0.5, rel=0.15)
    assert np.mean(np.log(factors)) == pytest.approx(0.0, abs=0.1)
    longer = mig_estimates(mig_day(seed=4, hours=4.0), "noisy:0.5", seed=3).factors
    assert np.array_equal(longer[: len(factors)], factors)
    assert mig_estimates(DAY, "noisy:0").factors.tolist() == [1.0] * len(DAY)


def test_each_day_of_a_training_has_a_sigma_of_its_own_between_the_bounds() -> None:
    days = [DAY] * 16
    sigmas = [np.std(np.log(told.factors)) for told in estimates_of_days(days, "noisy:0..1.5")]
    assert sigmas[0] == 0.0
    counts = np.histogram(sigmas, [0.0, 0.375, 0.75, 1.125, 1.7])[0]
    assert counts.min() >= 3


def test_kinds_with_commas_take_turns() -> None:
    told = estimates_of_days([DAY] * 4, "exact,noisy:1,predicted")
    assert [one.name for one in told] == ["exact", "noisy:1", "predicted", "exact"]


@pytest.mark.parametrize(
    "spec", ["limit", "noisy", "noisy:", "noisy:-1", "noisy:inf", "noisy:x", "", "noisy:1..", "é"]
)
def test_an_unknown_kind_is_refused_in_words(spec: str) -> None:
    with pytest.raises(ConfigError, match=r"write exact, noisy:0\.5"):
        mig_estimates(DAY, spec)


@pytest.mark.parametrize("placer", PLACERS)
def test_what_starts_at_first_depends_on_what_is_told_and_not_on_the_truth(placer: str) -> None:
    """All jobs come at once: until one ends, two truths behind the same estimates look alike."""
    count = 12
    random = np.random.default_rng(5)
    told = random.uniform(60.0, 600.0, count)
    starts = []
    for truth in (told, told * random.uniform(0.5, 2.0, count)):
        day = jobs_of(truth.tolist(), ["inference"] * count, gap=0.0)
        day = replace(day, trace=with_deadlines(day.trace, 300.0 + 10.0 * np.arange(count)))
        given = MigEstimates("given", told / truth)
        schedule = simulate_mig(
            day, MigCluster.parse("3xa100-40:3"), PLACERS[placer], estimates=given
        )
        first = schedule.start == 0.0
        starts.append((first.tolist(), schedule.gpu[first].tolist(), schedule.size[first].tolist()))
    assert starts[0] == starts[1]


def with_deadlines(trace: Trace, deadline: Any) -> Trace:
    return replace(trace, jobs=replace(trace.jobs, deadline=deadline))


def test_noise_changes_nothing_for_a_rule_that_needs_no_estimate() -> None:
    exact = simulate_mig(DAY, MIG_DAY_CLUSTER, PLACERS["eft"])
    noisy = mig_estimates(DAY, "noisy:1.5", seed=1)
    told = simulate_mig(DAY, MIG_DAY_CLUSTER, PLACERS["eft"], estimates=noisy)
    assert np.array_equal(exact.start, told.start)
    assert told.config["estimates"] == "noisy:1.5"


def test_a_job_is_predicted_to_be_as_long_as_ended_jobs_of_its_kind_were() -> None:
    run = [10.0, 40.0, 1000.0, 5.0, 7.0, 500.0]
    kinds = ["inference", "inference", "training", "inference", "training", "inference"]
    day, listener = jobs_of(run, kinds), Listener()
    simulate_mig(
        day, MigCluster.parse("1xa100-40:19"), PLACERS["eft"], listener,
        estimates=mig_estimates(day, "predicted"),
    )  # fmt: skip
    told = [listener.told[job][7] for job in range(6)]
    # The training job takes 1,000 s: the second one comes before its end, and goes by all jobs.
    inference = (10.0 * 40.0) ** (1 / 2)
    everyone = (10.0 * 40.0 * 5.0) ** (1 / 3)
    assert told == pytest.approx(
        [FIRST_GUESS, 10.0, inference, inference, everyone, everyone], rel=1e-12
    )


def test_a_group_is_a_kind_and_a_way_to_scale() -> None:
    names = zip(DAY.trace.jobs.kind.names(), DAY.sublinearity().tolist(), strict=True)
    pairs = set(zip(names, groups(DAY).tolist(), strict=True))
    assert len(pairs) == len({name for name, _ in pairs}) == len({number for _, number in pairs})
    assert np.array_equal(lengths(DAY), DAY.times[:, 7])
