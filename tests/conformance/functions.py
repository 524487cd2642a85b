"""Plain functions as orderings, to be held to what every ordering is held to."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from dovetail.domain.policy import Ordering
from dovetail.policies.ordering.function import SlowOrdering, ordering_from

SLOPE = {"wait": [0.5]}  # nothing that Numba could compile


def area(job: Any) -> float:
    """g · e"""
    return float(job.gpus * job.estimate)


def aged_area(job: Any, now: float) -> float:
    """g · e, less half of the wait"""
    return float(job.gpus * job.estimate - 0.5 * (now - job.submit))


def aged_area_in_python(job: Any, now: float) -> float:
    """the same, out of a dict"""
    return float(job.gpus * job.estimate - SLOPE["wait"][0] * (now - job.submit))


FUNCTIONS = {part.__name__: part for part in (area, aged_area, aged_area_in_python)}


@cache
def function_ordering(name: str) -> Ordering:
    """Compiled when a test asks for it: every worker imports this file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SlowOrdering)
        return ordering_from(FUNCTIONS[name])
