"""What holds of every schedule, whatever the policies."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dovetail.domain.policy import Backfill
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY
from tests.oracles.answers import FromHistory, schedule_of
from tests.oracles.backfilling import check_reserved_jobs, check_waiting_jobs
from tests.oracles.cases import Case, cases
from tests.oracles.invariants import check, check_promises
from tests.oracles.simulator import simulate as play
from tests.simulator.runs import PREFERRING, compiled, compiled_schedule

quick = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),  # cases come from one seed each: `reduced` shrinks them
    suppress_health_check=list(HealthCheck),
)


@settings(quick, max_examples=50)
@given(
    case=cases(),
    ordering=st.sampled_from(list(ORDERINGS)),
    placement=st.sampled_from(list(PLACEMENTS)),
    backfill=st.sampled_from(list(Backfill)),
)
def test_no_schedule_overbooks_a_node_or_breaks_a_gang(
    case: Case, ordering: str, placement: str, backfill: Backfill
) -> None:
    check(
        compiled_schedule(case.trace, case.cluster, ordering, placement, backfill, case.estimates)
    )


@settings(quick, max_examples=30)
@given(case=cases(), backfill=st.sampled_from(list(Backfill)))
def test_the_oracle_itself_neither_overbooks_a_node_nor_breaks_a_gang(
    case: Case, backfill: Backfill
) -> None:
    seconds = [row.run if row.estimate is None else row.estimate for row in case.rows]
    answer = play(case.trace, case.cluster, "fcfs", "best-fit", backfill, seconds)
    check(schedule_of(answer, case.trace, case.cluster))


@settings(quick, max_examples=50)
@given(case=cases().map(Case.unregulated).map(Case.exact), placement=st.sampled_from(PREFERRING))
def test_easy_backfilling_never_misses_the_first_promise_to_the_head_of_the_queue(
    case: Case, placement: str
) -> None:
    exact = [row.run for row in case.rows]
    oracle = play(case.trace, case.cluster, "fcfs", placement, Backfill.EASY, exact)
    answer = compiled(case.trace, case.cluster, "fcfs", placement, Backfill.EASY, case.estimates)
    answer.promised = oracle.promised
    check_promises(oracle)
    check_promises(answer)


@settings(quick, max_examples=50)
@given(
    case=cases().map(Case.unregulated).map(Case.punctual),
    placement=st.sampled_from(list(PLACEMENTS)),
)
def test_easy_backfilling_delays_no_reserved_job_and_refuses_none_that_would_not(
    case: Case, placement: str
) -> None:
    schedule = compiled_schedule(
        case.trace, case.cluster, "fcfs", placement, Backfill.EASY, case.estimates
    )
    check_reserved_jobs(schedule)
    check_waiting_jobs(schedule)


@settings(quick, max_examples=50)
@given(
    case=cases().map(Case.unregulated).map(Case.exact),
    ordering=st.sampled_from(list(ORDERINGS)),
    placement=st.sampled_from(PREFERRING),
)
def test_conservative_backfilling_starts_no_job_later_than_it_was_first_promised(
    case: Case, ordering: str, placement: str
) -> None:
    exact, history = [row.run for row in case.rows], FromHistory(HISTORY, case.trace)
    policies = ordering, placement, Backfill.CONSERVATIVE
    oracle = play(case.trace, case.cluster, *policies, exact, predictor=history)
    answer = compiled(case.trace, case.cluster, *policies, case.estimates)
    answer.promised = oracle.promised
    assert len(oracle.promised) == len(case.rows) - len(oracle.rejected)
    check_promises(oracle)
    check_promises(answer)
