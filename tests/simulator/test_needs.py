"""Needs lie in chains: where one is not met, none after it is."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given, settings

from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.simulator.build import Tables
from tests.oracles.cases import Case, cases, hungry

Amounts = tuple[int, int, int, int, int]
few_cases = settings(max_examples=60, deadline=None, derandomize=True, database=None)


@few_cases
@given(case=cases().map(hungry))
def test_each_need_of_a_chain_asks_for_no_less_than_the_one_before(case: Case) -> None:
    tables = tables_of(case)
    for one, other in pairwise(tables.needs):
        if one["chain"] == other["chain"]:
            before, after = amounts(tables, one), amounts(tables, other)
            assert before[0] == after[0], "needs on other kinds of nodes cannot be compared"
            assert all(less <= more for less, more in zip(before, after, strict=True))


@few_cases
@given(case=cases())
def test_every_option_has_the_need_of_its_large_chunks(case: Case) -> None:
    tables = tables_of(case)
    for option in tables.options[tables.options["many"] > 0]:
        need = tables.needs[option["need"]]
        assert (need["shape"], need["nodes"]) == (option["large_shape"], option["many"])


def tables_of(case: Case) -> Tables:
    fcfs, best_fit = ORDERINGS["fcfs"], PLACEMENTS["best-fit"]
    return Tables(case.trace.jobs, case.cluster, fcfs, best_fit, case.estimates)


def amounts(tables: Tables, need: Any) -> Amounts:
    shape = tables.shapes[need["shape"]]
    return (
        int(shape["kinds"]),
        int(shape["gpus"]),
        int(shape["cpus"]),
        int(shape["memory"]),
        int(need["nodes"]),
    )
