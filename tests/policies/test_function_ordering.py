"""Plain Python functions as orderings, compiled or called one by one."""

from __future__ import annotations

import math
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.compiled.tables import dtype_of
from dovetail.domain.errors import ConfigError
from dovetail.domain.policy import JobFacts, Varies
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.ordering.function import (
    CompiledScore,
    Function,
    Job,
    PythonScore,
    SlowOrdering,
    ordering_from,
)
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.policy import Policy, PolicyLike, as_policy
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import estimates_of, job, trace_of

TRACE = synthesize(WORKLOADS["helios"], jobs=400, seed=5, load=1.1, cluster_gpus=64)
WEIGHTS: dict[str, Any] = {"gpus": [1.0]}  # a dict of lists: nothing that Numba could compile


def area(job: Any) -> float:
    return float(job.gpus * job.estimate)


def area_in_python(job: Any) -> float:
    return float(WEIGHTS["gpus"][0] * job.gpus * job.estimate)


def wfp3(job: Any, now: float) -> float:
    x = (now - job.submit) / job.estimate
    return float(-(x * x * x) * job.gpus)


def wfp3_in_python(job: Any, now: float) -> float:
    return float(WEIGHTS["gpus"][0] * wfp3(job, now))


@cache
def quietly(function: Function) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SlowOrdering)
        return ordering_from(function)


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
@pytest.mark.parametrize(
    ("function", "name"),
    [(area, "saf"), (area_in_python, "saf"), (wfp3, "wfp3"), (wfp3_in_python, "wfp3")],
)
def test_a_function_schedules_as_the_ordering_with_its_formula(
    function: Function, name: str, backfill: str
) -> None:
    ours, theirs = (
        dovetail.simulate(TRACE, "8x8", order, backfill=backfill, estimates="noisy:1")
        for order in (quietly(function), name)
    )
    np.testing.assert_array_equal(ours.start, theirs.start)
    assert ours.config["order"] == function.__name__


def test_what_can_be_compiled_is_and_the_rest_gives_notice() -> None:
    assert isinstance(ordering_from(area).score, CompiledScore)
    with pytest.warns(SlowOrdering, match="area_in_python cannot be compiled"):
        assert isinstance(ordering_from(area_in_python).score, PythonScore)


def test_a_function_of_the_job_alone_is_asked_once_per_job() -> None:
    asked: list[Any] = []

    def first_come(job: Any) -> float:
        asked.append(job)
        return float(job.submit)

    ordering = quietly(first_come)
    assert ordering.varies is Varies.NEVER
    dovetail.simulate(TRACE, "8x8", ordering, estimates="exact")
    assert len(asked) == len(TRACE)
    assert ordering_from(wfp3).varies is Varies.ALWAYS


def test_a_function_sees_every_fact_of_a_job_and_no_true_run_time() -> None:
    rows = job(0, 10, 8), job(1, 777.0, 4, estimate=50.0, priority=2.0, exempt=True, deadline=99.0)
    shown: list[Any] = []

    def look(job: Any, now: float) -> float:
        shown.append((job, now))
        return 0.0

    dovetail.simulate(trace_of(*rows), "1x8", quietly(look), estimates=estimates_of(*rows))
    second, now = next((one, now) for one, now in shown if one.submit == 1.0)
    assert Job._fields == dtype_of(JobFacts).names
    assert (second.gpus, second.estimate, second.priority) == (4, 50.0, 2.0)
    assert (second.exempt, second.deadline, now) == (True, 99.0, 10.0)
    assert second.log_estimate == pytest.approx(math.log(50.0))
    assert 777.0 not in second


@pytest.mark.parametrize("change", ["compiled", "in Python"])
def test_a_function_cannot_change_what_it_is_shown(change: str) -> None:
    def greedy(job: Any) -> float:
        if change == "in Python":
            WEIGHTS["seen"] = job
        job.estimate = 1.0
        return 0.0

    with pytest.raises(AttributeError, match="can't set"):
        dovetail.simulate(TRACE, "8x8", quietly(greedy), estimates="exact")


def zero_division(job: Any) -> float:
    return float(1.0 / (job.gpus - job.gpus))


def zero_division_in_python(job: Any) -> float:
    return float(WEIGHTS["gpus"][0] / (job.gpus - job.gpus))


@pytest.mark.parametrize("function", [zero_division, zero_division_in_python])
def test_what_a_function_raises_reaches_the_caller(function: Function) -> None:
    with pytest.raises(ZeroDivisionError):
        dovetail.simulate(TRACE, "8x8", quietly(function), estimates="exact")
    with pytest.raises(ZeroDivisionError):
        dovetail.compare(TRACE, "8x8", [quietly(function)], estimates="exact")


def test_an_answer_that_is_no_number_is_a_clear_error() -> None:
    def wordy(job: Any) -> Any:
        return f"{job.gpus} GPUs"

    with pytest.raises(ConfigError, match=r"wordy gave '.*GPUs', expected a number"):
        dovetail.simulate(TRACE, "8x8", quietly(wordy), estimates="exact")


@pytest.mark.parametrize("wrong", [lambda: 0.0, lambda job, now, more: 0.0])
def test_other_arguments_are_refused_before_anything_runs(wrong: Function) -> None:
    with pytest.raises(ConfigError, match=r"expected \(job\) or \(job, now\)"):
        ordering_from(wrong)


def test_an_object_that_can_be_called_is_a_function_too() -> None:
    class Weighted:
        def __init__(self, weight: float) -> None:
            self.weight = weight

        def __call__(self, job: Any) -> float:
            return float(self.weight * job.submit)

    ordering = quietly(Weighted(-1.0))
    assert ordering.name == "Weighted"
    ours, theirs = (
        dovetail.simulate(TRACE, "8x8", order, estimates="exact") for order in (ordering, "lcfs")
    )
    np.testing.assert_array_equal(ours.start, theirs.start)


def test_whatever_stands_for_a_policy_becomes_one(tmp_path: Any) -> None:
    saf, fgd = ORDERINGS["saf"], PLACEMENTS["fgd"]
    assert as_policy("saf+none@fgd") == Policy("saf", "none", "fgd")
    assert as_policy(Policy("saf")) == Policy("saf")
    assert as_policy(saf).parts()[0] is saf
    assert as_policy(fgd).parts()[1] is fgd
    assert as_policy(fgd).label() == "fcfs+easy@fgd"
    assert as_policy(area).label() == "area+easy@best-fit"
    with pytest.raises(ConfigError, match="is no policy; expected ORDER"):
        as_policy(3)  # type: ignore[arg-type]


def test_a_comparison_takes_names_objects_and_functions_side_by_side() -> None:
    mine = ORDERINGS["saf"]
    given: list[PolicyLike] = [
        "saf",
        mine,
        PLACEMENTS["fgd"],
        area,
        area,
        Policy("fcfs"),
        lambda job: job.submit,
    ]
    found = dovetail.compare(TRACE, "8x8", given, estimates="exact")
    labels = [row.label for row in found.rows]
    assert labels == [
        "saf+easy@best-fit", "saf+easy@best-fit (2)", "fcfs+easy@fgd", "area+easy@best-fit",
        "area+easy@best-fit (2)", "fcfs+easy@best-fit", "lambda+easy@best-fit",
    ]  # fmt: skip
    waits = [row.metrics["wait_mean"] for row in found.rows]
    assert waits[0] == waits[1] == waits[3]
    assert waits[5] == waits[6]
    assert '"order": "lambda"' in found.to_json()


def test_functions_of_a_module_are_compared_by_several_processes() -> None:
    given: list[PolicyLike] = [area, ORDERINGS["saf"], "fcfs"]
    alone, together = (
        dovetail.compare(TRACE, "8x8", given, estimates="exact", workers=workers)
        for workers in (1, 2)
    )
    for one, other in zip(alone.rows, together.rows, strict=True):
        assert one.metrics["wait_mean"] == other.metrics["wait_mean"]


def test_a_function_without_a_name_says_that_it_cannot_travel() -> None:
    given: list[PolicyLike] = [lambda job: job.submit, "saf"]
    with pytest.raises(ConfigError, match="use workers=1"):
        dovetail.compare(TRACE, "8x8", given, estimates="exact", workers=2)
