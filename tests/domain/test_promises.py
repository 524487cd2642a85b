"""Groups of jobs, waits by group, promises and objectives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail import api
from dovetail.domain.errors import ConfigError
from dovetail.domain.group_waits import group_waits
from dovetail.domain.job_groups import GROUPINGS, SIZE_BOUNDS, SIZES, size_class, size_codes
from dovetail.domain.jobs import JobColumns
from dovetail.domain.objective import Objective
from dovetail.domain.promises import Promises
from dovetail.traces.loader import load_trace


@given(st.integers(1, 5000))
def test_every_size_has_the_class_whose_bounds_hold_it(gpus: int) -> None:
    code = int(size_codes(np.array([gpus]))[0])
    assert size_class(gpus) == SIZES[code]
    assert code == len(SIZE_BOUNDS) or gpus <= SIZE_BOUNDS[code]
    assert code == 0 or gpus > SIZE_BOUNDS[code - 1]


@given(st.lists(st.tuples(st.integers(1, 64), st.sampled_from("ab"), st.integers(0, 99),
                          st.integers(0, 99)), min_size=1, max_size=40))  # fmt: skip
def test_waits_of_groups_are_those_of_their_jobs(rows: list[tuple[int, str, int, int]]) -> None:
    jobs = JobColumns(
        submit=[0] * len(rows), run=[1] * len(rows), gpus=[row[0] for row in rows],
        user=[row[1] for row in rows],
    ).build()  # fmt: skip
    before = np.array([float(row[2]) for row in rows])
    after = np.array([float(row[3]) for row in rows])
    found = group_waits(jobs, before, after, ("size", "user"))
    for grouping in ("size", "user"):
        names = GROUPINGS[grouping](jobs).names()
        groups = [group for group in found if group.grouping == grouping]
        assert {group.name for group in groups} == set(names)
        for group in groups:
            own = [at for at, name in enumerate(names) if name == group.name]
            assert group.jobs == len(own)
            assert group.mean == pytest.approx(np.mean(after[own]))
            assert group.baseline_p95 == pytest.approx(np.percentile(before[own], 95))


def test_jobs_that_did_not_run_under_both_are_in_no_group() -> None:
    jobs = JobColumns(submit=[0, 0], run=[1, 1], gpus=[1, 1]).build()
    (group,) = group_waits(jobs, np.array([5.0, np.nan]), np.array([7.0, 1.0]), ("size", "user"))
    assert (group.jobs, group.mean) == (1, 7.0)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("size_p96=0.1", "size_p95"),
        ("size_p95", "KEY=PART"),
        ("size_p95=ten", "10%"),
        ("size_p95=-1", "0 or more"),
        ("size_p95=nan", "0 or more"),
        ("least_jobs=0", "1 or more"),
    ],
)
def test_wrong_promises_are_refused_in_words(text: str, word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        Promises.parse(text)


def test_promises_read_alike_from_text_and_from_a_table() -> None:
    assert Promises.parse("size_p95=10%, slack=30") == Promises.from_mapping(
        {"size_p95": 0.1, "slack": 30}
    )
    assert not Promises()
    assert Promises(user_mean=0.2).groupings == ("user",)


def test_a_promise_is_broken_by_what_passes_its_part_and_its_slack() -> None:
    jobs = JobColumns(submit=[0] * 40, run=[1] * 40, gpus=[1] * 40).build()
    promises = Promises(size_mean=0.1, slack=60)

    def broken(before: float, after: float) -> int:
        groups = group_waits(jobs, np.full(40, before), np.full(40, after), ("size",))
        return len(promises.check(groups).broken)

    assert broken(1000, 1100) == 0
    assert broken(1000, 1101) == 1
    assert broken(0, 60) == 0
    assert broken(0, 61) == 1


def test_a_group_with_too_few_jobs_is_named_and_not_judged() -> None:
    jobs = JobColumns(submit=[0] * 29, run=[1] * 29, gpus=[1] * 29).build()
    groups = group_waits(jobs, np.zeros(29), np.full(29, 1e6), ("size",))
    found = Promises(size_p95=0.1).check(groups)
    assert not found.broken
    assert [finding.jobs for finding in found.too_few] == [29]


def test_promises_compare_two_schedules_of_one_trace_only() -> None:
    trace = load_trace("synth:helios", jobs=300, seed=1, load=1.2, cluster_gpus=64)
    other = load_trace("synth:helios", jobs=300, seed=2, load=1.2, cluster_gpus=64)
    slurm = api.simulate(trace, "8x8", "slurm-multifactor")
    promises = Promises(size_mean=0.0, size_p95=0.0, utilisation=0.0)
    same = promises.check_schedules(slurm, slurm)
    assert same.kept
    assert not same.broken
    assert same.excess == 0
    with pytest.raises(ConfigError, match="one trace"):
        promises.check_schedules(slurm, api.simulate(other, "8x8", "slurm-multifactor"))


def test_an_objective_weighs_ratios_to_the_baseline() -> None:
    slurm = {"wait_mean": 99.0, "bsld_mean": 4.0, "wait_p95": 1.0, "makespan": 10.0,
             "gpu_utilization": 0.5}  # fmt: skip
    ours = {**slurm, "bsld_mean": 2.0, "gpu_utilization": 0.25}
    assert Objective.parse("slowdown").improvement(slurm, ours) == pytest.approx(0.5)
    assert Objective.parse("utilisation").improvement(slurm, ours) == pytest.approx(-1.0)
    assert Objective.parse("slowdown=1,utilisation=1").cost(slurm, ours) == pytest.approx(0.0)
    assert Objective().improvement(slurm, {**slurm, "wait_mean": 49.0}) == pytest.approx(0.5)


@pytest.mark.parametrize("text", ["speed", "wait=0", "wait=-1", "wait=x", "wait=nan", ""])
def test_wrong_objectives_are_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        Objective.parse(text)
    assert math.isfinite(Objective().wait)
