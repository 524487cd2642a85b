"""What holds of every guardrail, and of all together, in any situation."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails import GUARDRAILS, guard, limit_changes
from dovetail.live.guardrails.base import GuardrailOutcome, passed
from dovetail.live.guardrails.chain import apply_all
from dovetail.live.guardrails.displacement import displacement
from dovetail.live.guardrails.fair_share import kept_places, short_accounts
from dovetail.live.guardrails.latest_places import meet
from dovetail.live.guardrails.rate import worth_of
from dovetail.live.guardrails.slurm_order import moved, slurm_order
from dovetail.live.guardrails.starvation import starving
from dovetail.live.model.decision import Change, Decision, Knob
from tests.live.guardrails.cases import Case, cases, situation_of
from tests.oracles.displacement import by_slurm, nearest_orders, places_lost


@pytest.mark.parametrize("name", GUARDRAILS)
@given(case=cases())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_a_guardrail_is_pure_and_names_itself(name: str, case: Case) -> None:
    before = copy.deepcopy(case)
    ruling = GUARDRAILS[name](case.decision, case.situation, case.config)
    assert case == before
    assert ruling == GUARDRAILS[name](case.decision, case.situation, case.config)
    assert ruling.verdict.guardrail == name
    assert ruling.verdict.reason


@pytest.mark.parametrize("name", GUARDRAILS)
@given(case=cases())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_only_an_amending_guardrail_changes_the_decision(name: str, case: Case) -> None:
    ruling = GUARDRAILS[name](case.decision, case.situation, case.config)
    changed = ruling.decision != case.decision
    assert changed == (ruling.verdict.outcome is GuardrailOutcome.AMENDED)


@pytest.mark.parametrize("name", GUARDRAILS)
@given(case=cases())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_a_guardrail_has_nothing_to_add_to_its_own_ruling(name: str, case: Case) -> None:
    once = GUARDRAILS[name](case.decision, case.situation, case.config).decision
    twice = GUARDRAILS[name](once, case.situation, case.config)
    assert twice.decision == once
    assert twice.verdict.outcome is not GuardrailOutcome.AMENDED


@given(case=cases())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_guarding_twice_orders_as_guarding_once(case: Case) -> None:
    once, _, _ = guard(case.decision, case.situation, case.config)
    twice, _, _ = guard(once, case.situation, case.config)
    assert (twice.order, twice.untouched, twice.hints) == (once.order, once.untouched, once.hints)


@given(case=cases())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_jobs_are_neither_lost_nor_invented_and_untouched_ones_are_not_ordered(case: Case) -> None:
    guarded, verdicts, _ = guard(case.decision, case.situation, case.config)
    jobs = [*guarded.order, *guarded.untouched]
    assert sorted(jobs) == sorted([*case.decision.order, *case.decision.untouched])
    assert not guarded.hints.keys() & guarded.untouched.keys()
    assert [verdict.guardrail for verdict in verdicts] == list(GUARDRAILS)


@given(case=cases())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_no_job_set_by_hand_is_left_in_the_order(case: Case) -> None:
    guarded, _, _ = guard(case.decision, case.situation, case.config)
    for number in guarded.order:
        factor = case.situation.snapshot.factors[number]
        assert not case.situation.snapshot.by_id[number].held
        assert not factor.frozen
        assert factor.site in (0, case.situation.own.get(number))


@given(case=cases())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_no_job_loses_more_places_than_allowed(case: Case) -> None:
    guarded, _, _ = guard(case.decision, case.situation, case.config)
    own = slurm_order(guarded.order, case.situation)
    lost = places_lost(guarded.order, own)
    assert all(places <= case.config.displacement for places in lost.values())
    assert moved(guarded.order, own).most == max((abs(n) for n in lost.values()), default=0)


@given(case=cases())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_starving_jobs_are_first_oldest_first_unless_there_are_too_many(case: Case) -> None:
    # Of several classes each has its own head: see test_lines.
    guarded, _, _ = guard(case.decision, case.situation, replace(case.config, binding=()))
    hungry = [item.job for item in starving(guarded.order, case.situation, case.config)]
    eligible = {job.id: job.eligible for job in case.situation.snapshot.jobs}
    assert hungry == sorted(hungry, key=lambda job: (eligible[job], job))
    if len(hungry) <= case.config.displacement:
        assert list(guarded.order[: len(hungry)]) == hungry


@given(case=cases())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_first_jobs_of_short_accounts_keep_slurms_place_behind_starving_ones(case: Case) -> None:
    guarded, _, _ = guard(case.decision, case.situation, case.config)
    own = slurm_order(guarded.order, case.situation)
    account = {job.id: job.account for job in case.situation.snapshot.jobs}
    hungry = {item.job for item in starving(own, case.situation, case.config)}
    for name in short_accounts(case.situation, case.config):
        first = next((job for job in own if account[job] == name), None)
        if first is not None:
            behind = sum(job in hungry for job in own[own.index(first) :])
            assert guarded.order.index(first) <= own.index(first) + behind
            if not hungry:
                assert guarded.order.index(first) <= own.index(first)


@given(case=cases())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_slurms_own_order_meets_all_limits(case: Case) -> None:
    own = slurm_order(case.decision.order, case.situation)
    kept = kept_places(own, case.situation, case.config)
    assert meet(own, kept) == own


@given(data=st.data(), count=st.integers(1, 6))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_the_amended_order_is_the_one_with_the_fewest_pairs_against_the_wish(
    data: st.DataObject, count: int
) -> None:
    possible = data.draw(st.permutations(range(count)))  # an order that meets the limits
    latest = {job: place + data.draw(st.integers(0, 4)) for place, job in enumerate(possible)}
    for free in data.draw(st.sets(st.integers(0, count - 1))):
        del latest[free]
    wish = data.draw(st.permutations(range(count)))
    assert nearest_orders(wish, latest) == [meet(wish, latest)]


@given(case=cases(most=6))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_displacement_agrees_with_looking_at_every_order(case: Case) -> None:
    situation = replace(case.situation, snapshot=replace(case.situation.snapshot, shares=()))
    order = displacement(case.decision, situation, case.config).decision.order
    own = by_slurm(case.decision.order, situation.snapshot)
    latest = {job: place + case.config.displacement for place, job in enumerate(own)}
    assert nearest_orders(case.decision.order, latest) == [order]


@given(
    numbers=st.lists(st.integers(0, 9), max_size=12),
    order=st.permutations(range(7)),
    sent=st.lists(st.tuples(st.floats(0.0, 5000.0), st.integers(0, 5)), max_size=6),
    most=st.integers(1, 8),
)
@settings(max_examples=80, deadline=None, derandomize=True)
def test_sent_changes_keep_both_limits_and_those_worth_most_go_first(
    numbers: list[int], order: list[int], sent: list[tuple[float, int]], most: int
) -> None:
    asked = [Change(job, str(job), Knob.SITE_FACTOR, 0, 7, "") for job in numbers]
    config = GuardrailConfig(changes_per_cycle=most, changes_per_hour=12)
    situation = situation_of(sent=tuple(sent))
    allowed, verdict = limit_changes(asked, situation, config, order)
    before = sum(count for steady, count in sent if 5000.0 - steady < 3600.0)
    room = max(0, 12 - before)
    if before > 0.8 * 12 and room < len(asked):
        assert (allowed, verdict.outcome) == ((), GuardrailOutcome.FALL_BACK)
        return
    assert len(allowed) == min(len(asked), most, room)
    assert (verdict.outcome is GuardrailOutcome.PASS) == (len(allowed) == len(asked))
    left = Counter(numbers) - Counter(change.job for change in allowed)
    worth = worth_of(asked, situation, order)
    least = min((worth[change.job] for change in allowed), default=0.0)
    assert all(worth[job] <= least for job in left) or not allowed
    assert limit_changes(allowed, situation, config, order)[0] == allowed


def test_latest_places_that_no_order_meets_are_refused() -> None:
    with pytest.raises(ValueError, match="no order gives job"):
        meet((1, 2, 3), {1: 0, 2: 0})


def test_a_guardrail_that_fails_stops_the_cycle_with_its_words() -> None:
    def broken(*_: object) -> object:
        raise ZeroDivisionError("no jobs to divide by")

    case = Case(Decision((1, 2)), None, None)  # type: ignore[arg-type]
    chain = {"broken": broken, "fine": lambda decision, *_: passed("fine", decision, "ok")}
    decision, verdicts, outcome = apply_all(chain, case.decision, case.situation, case.config)  # type: ignore[arg-type]
    assert decision is case.decision
    assert outcome is GuardrailOutcome.STOP
    assert verdicts[0].reason == (
        "the guardrail itself failed: ZeroDivisionError: no jobs to divide by"
    )
    assert verdicts[1] == ("fine", GuardrailOutcome.PASS, "ok")


def test_outcomes_grow_worse_in_the_order_written() -> None:
    names = [item.name for item in sorted(GuardrailOutcome, key=lambda item: item.severity)]
    assert names == ["PASS", "AMENDED", "STOP", "FALL_BACK"]
