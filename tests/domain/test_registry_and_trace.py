"""Registries answer "did you mean"; traces refuse what cannot be scheduled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dovetail.domain.errors import TraceError, UnknownName
from dovetail.domain.jobs import JobColumns, Names
from dovetail.domain.registry import Registry
from dovetail.domain.trace import Trace


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    registry = Registry("ordering", {"fcfs": 1, "sjf": 2})
    with pytest.raises(UnknownName, match=r"unknown ordering 'fcsf': did you mean 'fcfs'\?"):
        registry["fcsf"]
    with pytest.raises(UnknownName, match="known are fcfs, sjf"):
        registry["xyzzy"]
    assert "fcsf" not in registry
    assert registry.get("sjf") == 2


def columns(**change: Any) -> JobColumns:
    given: dict[str, Any] = {"submit": [0.0, 1.0], "run": [5.0, 5.0], "gpus": [1, 2]}
    return JobColumns(**(given | change))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"submit": [math.nan, 1.0]}, "no valid submit time"),
        ({"submit": [0.0, math.inf]}, "no valid submit time"),
        ({"submit": [2.0, 1.0]}, "submitted before its predecessor"),
        ({"run": [-1.0, 5.0]}, "negative run time"),
        ({"run": [math.nan, 5.0]}, "no valid run time"),
        ({"submit": [0.0, 1e13]}, "beyond all calendars"),
        ({"run": [4e8, 5.0]}, "longer than ten years"),
        ({"gpus": [0, 1]}, "asks for neither GPUs nor CPUs"),
        ({"gpus": [-3, 1]}, "negative number of GPUs"),
        ({"limit": [0.0, 1.0]}, "time limit that is not positive"),
        ({"limit": [1e-300, 1.0]}, "time limit that is not positive"),
        ({"limit": [1e10, 1.0]}, "time limit beyond ten years"),
        ({"nodes": [-1, 0]}, "negative number of nodes"),
        ({"nodes": [2, 0]}, "more nodes than GPUs"),
        ({"cpus": [math.nan, 0.0]}, "CPUs"),
        ({"memory": [-1.0, 0.0]}, "memory"),
        ({"priority": [math.nan, 0.0]}, "priority"),
        ({"ids": ["a", "a"]}, "id used before"),
    ],
)
def test_a_trace_refuses_rows_that_cannot_be_scheduled(
    change: dict[str, Any], problem: str
) -> None:
    with pytest.raises(TraceError, match=problem):
        Trace(columns(**change).build())


def test_an_empty_trace_is_refused() -> None:
    with pytest.raises(TraceError, match="no jobs"):
        Trace(columns(submit=[], run=[], gpus=[]).build())


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(TraceError, match="column run has 1 rows, expected 2"):
        columns(run=[1.0]).build()


def test_the_digest_depends_on_every_column() -> None:
    base = Trace(columns().build()).digest()
    assert Trace(columns().build()).digest() == base
    changes: list[dict[str, Any]] = [
        {"user": ["a", "b"]}, {"user": ["a", None]}, {"kind": ["a", "b"]}, {"limit": [9.0, 9.0]},
        {"exempt": [True, False]}, {"ids": ["x", "y"]}, {"gpus": [1, 3]},
    ]  # fmt: skip
    digests = {Trace(columns(**change).build()).digest() for change in changes}
    assert base not in digests
    assert len(digests) == len(changes)


def test_names_keep_order_of_appearance_and_unknowns() -> None:
    names = Names.of(["b", None, "a", "b"])
    assert names.codes.tolist() == [0, -1, 1, 0]
    assert names.names() == ["b", None, "a", "b"]
    assert names[np.array([2, 3])].names() == ["a", "b"]
