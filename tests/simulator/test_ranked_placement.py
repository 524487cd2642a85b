"""Placements that rank classes of equal nodes: known ones written that way give their schedules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import given as given_cases
from hypothesis import strategies as st
from numba import carray

from dovetail.domain.node_classes import ranking
from dovetail.domain.policy import Backfill, Placement
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement.preferences import worst_fit
from dovetail.prediction import HISTORY
from dovetail.simulator import simulate
from tests.oracles.answers import FromHistory, answer_of, difference
from tests.oracles.cases import Case, cases, reduced
from tests.oracles.simulator import simulate as play

quick = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


@ranking
def fewest_free(parameters: Any, given: Any, count: int) -> None:
    """Best-fit; gangs take the first way of running that has room."""
    classes = carray(given, (count,))
    for i in range(count):
        way = classes[i].option if classes[i].job_gpus > classes[i].chunk_gpus else 0
        classes[i].preference = 1000.0 * way + classes[i].free_gpus


@ranking
def first_node(parameters: Any, given: Any, count: int) -> None:
    """First-available, likewise."""
    classes = carray(given, (count,))
    for i in range(count):
        way = classes[i].option if classes[i].job_gpus > classes[i].chunk_gpus else 0
        classes[i].preference = 1000.0 * way


RANKED = {
    # Where nothing can be ranked the preference is asked: the worst, to be noticed.
    "best-fit": Placement("best-fit", worst_fit, rank=fewest_free),
    "first-available": Placement("first-available", worst_fit, rank=first_node),
}


def ranked(case: Case) -> Case:
    """The same case of jobs that are ranked: with GPUs, and parts of nodes."""
    rows = (
        replace(row, gpus=max(1, row.gpus), nodes=min(row.nodes, max(1, row.gpus)), exclusive=False)
        for row in case.rows
    )
    parts = tuple(replace(part, exclusive=False) for part in case.cluster.partitions)
    return replace(case, cluster=replace(case.cluster, partitions=parts), rows=tuple(rows))


@pytest.mark.parametrize("placement", list(RANKED))
@settings(quick, max_examples=40)
@given_cases(
    case=cases().map(ranked),
    ordering=st.sampled_from(list(ORDERINGS)),
    backfill=st.sampled_from(list(Backfill)),
)
def test_known_placements_as_ranks_of_classes_give_the_schedule_of_the_oracle(
    placement: str, case: Case, ordering: str, backfill: Backfill
) -> None:
    def parting(case: Case) -> str | None:
        trace, cluster, told = case.trace, case.cluster, case.estimates
        seconds = told.seconds.tolist()
        history = FromHistory(HISTORY, trace)
        oracle = play(trace, cluster, ordering, placement, backfill, seconds, {}, history)
        found = simulate(
            trace, cluster, ORDERINGS[ordering], RANKED[placement], backfill, told, HISTORY
        )
        return difference(oracle, answer_of(found))

    if parting(case) is not None:
        small = reduced(case, lambda smaller: parting(smaller) is not None)
        pytest.fail(f"{ordering} {backfill.value}: {parting(small)}\n{small!r}", pytrace=False)
