"""The compiled simulator gives the oracle's schedule: same starts, nodes, GPUs, job by job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dovetail.domain.estimates import Estimates
from dovetail.domain.policy import Backfill
from dovetail.policies.ordering import ORDERINGS
from dovetail.prediction import HISTORY
from tests.oracles.answers import FromHistory, difference
from tests.oracles.cases import Case, cases, hungry, reduced
from tests.oracles.simulator import simulate as play
from tests.simulator.runs import PREFERRING, compiled

Estimated = Callable[[Case], Estimates]
quick = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),  # cases come from one seed each: `reduced` shrinks them
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("backfill", list(Backfill), ids=lambda backfill: backfill.value)
@pytest.mark.parametrize("placement", PREFERRING)
@pytest.mark.parametrize("ordering", list(ORDERINGS))
@settings(quick, max_examples=2)
@given(case=cases(most_jobs=14))
def test_every_combination_of_policies_gives_the_schedule_of_the_oracle(
    ordering: str, placement: str, backfill: Backfill, case: Case
) -> None:
    agree(case, ordering, placement, backfill, as_told)


@settings(quick, max_examples=100)
@given(
    case=cases(),
    ordering=st.sampled_from(list(ORDERINGS)),
    placement=st.sampled_from(PREFERRING),
    backfill=st.sampled_from(list(Backfill)),
)
def test_longer_traces_give_the_schedule_of_the_oracle(
    case: Case, ordering: str, placement: str, backfill: Backfill
) -> None:
    agree(case, ordering, placement, backfill, as_told)


@settings(quick, max_examples=45)
@given(
    case=cases().map(hungry),
    ordering=st.sampled_from([*ORDERINGS, "careful"]),
    placement=st.sampled_from(PREFERRING),
    backfill=st.sampled_from(list(Backfill)),
)
def test_jobs_that_each_ask_for_other_cpus_and_memory_run_as_in_the_oracle(
    case: Case, ordering: str, placement: str, backfill: Backfill
) -> None:
    agree(case, ordering, placement, backfill, as_told)


@pytest.mark.parametrize("ordering", ["sjf", "qssf"])
@pytest.mark.parametrize("backfill", list(Backfill), ids=lambda backfill: backfill.value)
@settings(quick, max_examples=15)
@given(case=cases())
def test_reservations_may_go_by_other_estimates_than_the_order_as_in_the_oracle(
    ordering: str, backfill: Backfill, case: Case
) -> None:
    agree(case, ordering, "best-fit", backfill, apart)


@pytest.mark.parametrize("backfill", list(Backfill), ids=lambda part: part.value)
@settings(quick, max_examples=30)
@given(case=cases(), placement=st.sampled_from(["best-fit", "lifetime"]))
def test_jobs_that_decline_to_pass_or_to_take_the_last_gpus_do_so_as_in_the_oracle(
    backfill: Backfill, placement: str, case: Case
) -> None:
    agree(case, "careful", placement, backfill, as_told)


@pytest.mark.parametrize("backfill", list(Backfill), ids=lambda part: part.value)
@settings(quick, max_examples=40)
@given(case=cases())
def test_what_is_known_of_forecasts_and_of_gpus_in_use_is_what_the_oracle_knows(
    backfill: Backfill, case: Case
) -> None:
    agree(case, "knowing", "best-fit", backfill, with_forecasts)


@pytest.mark.parametrize("backfill", list(Backfill), ids=lambda part: part.value)
@settings(quick, max_examples=60)
@given(
    case=cases(),
    ordering=st.sampled_from(["saf", "knowing"]),
    placement=st.sampled_from(["best-fit", "lifetime"]),
)
def test_what_is_believed_of_running_jobs_is_revised_as_in_the_oracle(
    backfill: Backfill, ordering: str, placement: str, case: Case
) -> None:
    agree(case, ordering, placement, backfill, revised)


def agree(
    case: Case, ordering: str, placement: str, backfill: Backfill, estimated: Estimated
) -> None:
    """Run both; if they part, say where they first do, on as small a case as shows it."""

    def parting(case: Case) -> str | None:
        trace, cluster, estimates = case.trace, case.cluster, estimated(case)
        affinity = case.affinity if placement == "gpu-affinity" else {}
        seconds, reserve = estimates.seconds.tolist(), estimates.reserve.tolist()
        history = FromHistory(HISTORY, trace)
        oracle = play(
            trace, cluster, ordering, placement, backfill, seconds, affinity, history, reserve,
            list(zip(estimates.spread, estimates.skew, estimates.margin, strict=True)),
            estimates.revisions.tolist() if estimates.revisions.size else (),
        )  # fmt: skip
        answer = compiled(trace, cluster, ordering, placement, backfill, estimates, affinity)
        return difference(oracle, answer)

    if parting(case) is not None:
        small = reduced(case, lambda smaller: parting(smaller) is not None)
        policies = f"{ordering} × {placement} × {backfill.value}"
        pytest.fail(f"{policies}: {parting(small)}\n{small!r}", pytrace=False)


def as_told(case: Case) -> Estimates:
    return case.estimates


def with_forecasts(case: Case) -> Estimates:
    """Estimates of which it is said how sure they are."""
    steps = np.arange(len(case.rows))
    spread, skew, margin = steps % 3 / 2.0, steps % 5 / 4.0, steps % 7 / 3.0 - 0.5
    return replace(apart(case), spread=spread, skew=skew, margin=margin)


def revised(case: Case) -> Estimates:
    """Estimates that grow as jobs run on: slowly, at once, and not at all up to an overrun."""
    told = with_forecasts(case)
    steps = np.array(
        [[1.0, 1.1, 1.2, 1.5, 3.0, 3.5], [2.0] * 4 + [8.0, 9.0], [1.0] * 4 + [1.2, 9.0]]
    )
    factors = steps[np.arange(len(told.seconds)) % 3]
    return replace(told, revisions=np.maximum(1.0, told.reserve)[:, None] * factors)


def apart(case: Case) -> Estimates:
    """Reservations reckon with other numbers than the order, some longer and some shorter."""
    seconds = case.estimates.seconds
    factor = np.array([0.3, 1.0, 2.5, 7.0])[np.arange(len(seconds)) % 4]
    return Estimates("apart", seconds, seconds * factor)
