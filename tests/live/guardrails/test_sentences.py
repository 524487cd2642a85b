"""What each guardrail says, in figures, for each of its outcomes."""

from __future__ import annotations

import doctest
import math
from typing import Any

import pytest

from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails import GUARDRAILS, guard, limit_changes, words
from dovetail.live.guardrails.base import GuardrailOutcome, Ruling, Situation
from dovetail.live.guardrails.slurm_order import slurm_order
from dovetail.live.model.decision import Change, Decision, Hint, Knob
from dovetail.live.model.snapshot import LiveJob, Share
from tests.live.guardrails.cases import HOUR, NOW, glimpse, nodes, situation_of, waiting

PASS, AMENDED, STOP, FALL_BACK = GuardrailOutcome
TWO = (waiting(1), waiting(2))


def rule(name: str, decision: Decision, situation: Situation, **config: Any) -> Ruling:
    ruling = GUARDRAILS[name](decision, situation, GuardrailConfig(**config))
    assert ruling.verdict.guardrail == name
    return ruling


def said(
    name: str, decision: Decision, situation: Situation, **config: Any
) -> tuple[GuardrailOutcome, str]:
    verdict = rule(name, decision, situation, **config).verdict
    return verdict.outcome, verdict.reason


def test_the_examples_of_the_documentation_run() -> None:
    assert doctest.testmod(words) == (0, 3)


def test_jobs_set_by_hand_are_left_alone_each_with_its_reason() -> None:
    situation = situation_of(
        waiting(1),
        waiting(2, site=9),
        waiting(3, own=5000, frozen=True),
        waiting(4, own=0, reason="JobHeldAdmin"),
        waiting(5, site=7),
        waiting(6, site=7, array=5),
        waiting(7, own=800, frozen=True),
        own={5: 7, 2: 7, 7: 800},
    )
    decision = Decision((7, 6, 5, 4, 3, 2, 1), hints={3: Hint("n1"), 1: Hint("n2")})
    ruling = rule("pins", decision, situation)
    assert ruling.decision.order == (7, 6, 5, 1)
    assert ruling.decision.hints == {1: Hint("n2")}
    assert ruling.decision.untouched == {
        2: "site factor set by hand: 9",
        3: "priority set by hand: 5000",
        4: "held: JobHeldAdmin",
    }
    assert ruling.verdict[1:] == (
        AMENDED,
        "3 jobs left alone: 1 held, 1 priority set by hand, 1 site factor set by hand",
    )


def test_without_pins_nothing_is_said_but_that() -> None:
    assert said("pins", Decision((2, 1)), situation_of(*TWO)) == (
        PASS,
        "no job in the order was set by hand",
    )


def test_jobs_that_waited_far_beyond_their_partitions_p95_go_first() -> None:
    situation = situation_of(
        waiting(1),
        waiting(2, hours=7.0),
        waiting(3, hours=9.0, partitions=("gpu", "debug")),
        waiting(4, hours=8.0, reason="QOSMaxJobsPerUserLimit"),
        waiting(5, hours=6.0),
        waits={"gpu": 2.1 * HOUR, "debug": 1.0},
    )
    ruling = rule("starvation", Decision((1, 5, 2, 4, 3)), situation, starvation_floor=HOUR)
    assert ruling.decision.order == (3, 2, 1, 5, 4)
    assert ruling.decision.reasons[3] == "waited 9.0 h, beyond 3 times the p95 of gpu (2.1 h)"
    assert ruling.verdict[1:] == (
        AMENDED,
        "2 jobs waited beyond 3 times their partition's p95 (gpu: 2.1 h) and 1.0 h: they go first",
    )
    again = said("starvation", ruling.decision, situation, starvation_floor=HOUR)
    assert again[0] is PASS
    assert again[1].endswith("they are first already")


def test_nobody_starves_before_the_floor_or_while_nothing_is_measured() -> None:
    rows = (waiting(1, hours=47.0), waiting(2, hours=90.0, partitions=("new",)))
    calm = (PASS, "no job has waited too long")
    assert said("starvation", Decision((1, 2)), situation_of(*rows)) == calm
    assert said("starvation", Decision((1, 2)), situation_of(rows[0], waits={"gpu": 1.0})) == calm
    # A partition in which no job has started yet is measured by the slowest of the others.
    elsewhere = rule("starvation", Decision((1, 2)), situation_of(*rows, waits={"gpu": HOUR}))
    assert elsewhere.decision.order == (2, 1)


SHARES = (Share("physics", 0.5, 0.45), Share("maths", 0.2, 0.05))


def test_the_first_job_of_an_account_below_its_share_keeps_slurms_place() -> None:
    situation = situation_of(
        waiting(1, own=40),
        waiting(2, own=30, account="maths"),
        waiting(3, own=20),
        waiting(4, own=10, account="maths"),
        shares=SHARES,
    )
    ruling = rule("fair_share", Decision((3, 1, 4, 2)), situation)
    assert ruling.decision.order == (3, 2, 1, 4)
    assert ruling.verdict[1:] == (
        AMENDED,
        "maths used 5.0 % of its 20.0 %: 1 first job lifted to the place Slurm gave",
    )
    assert ruling.decision.reasons[2] == (
        "first job of maths, which is far below its share: "
        "not later than place 2, which Slurm gave it"
    )
    assert said("fair_share", Decision((2, 1)), situation) == (
        PASS,
        "maths used 5.0 % of its 20.0 %: no first job goes later than Slurm would take it",
    )
    assert said("fair_share", Decision((3, 1, 4, 2)), situation, share_floor=0.9) == (
        PASS,
        "no account is far below its share",
    )


def test_jobs_that_would_lose_too_many_places_are_kept_within_them() -> None:
    situation = situation_of(*(waiting(number, own=100 - number) for number in range(1, 6)))
    ruling = rule("displacement", Decision((5, 4, 3, 2, 1)), situation, displacement=2)
    assert ruling.decision.order == (5, 4, 1, 2, 3)
    assert ruling.verdict[1:] == (
        AMENDED,
        "1 job would have lost more places than allowed (up to 4 of 2): kept within them",
    )
    assert ruling.decision.reasons == {1: "kept within 2 places of Slurm's order"}
    assert said("displacement", Decision((2, 1, 3)), situation, displacement=2) == (
        PASS,
        "no job loses more than 1 place",
    )


def test_slurms_order_of_jobs_that_we_froze_is_the_one_before() -> None:
    situation = situation_of(
        waiting(1, own=900, frozen=True),
        waiting(2, own=50),
        waiting(3, own=10, site=70),
        own={1: 900},
        slurm_priority={1: 20, 2: 1},
    )
    assert slurm_order((1, 2, 3), situation) == (2, 1, 3)


@pytest.mark.parametrize(
    ("decision", "trained", "outcome", "reason"),
    [
        (Decision((), score_range=(-2.0, 3.5)), 0.0, PASS, "no model; scores from -2 to 3.5"),
        (Decision(()), NOW - 10 * 86_400, PASS, "the model is 10.0 days old; scores from 0 to 0"),
        (Decision(()), NOW - 90.1 * 86_400, STOP,
         "the model is 90.1 days old, more than 90: train a new one"),
        (Decision(()), NOW + 3 * 86_400, STOP,
         "the model was made 3.0 days in the future: check the clock"),
        (Decision((), score_range=(0.0, math.nan)), 0.0, STOP,
         "scores from 0 to nan: not all are numbers"),
        (Decision((), score_range=(-math.inf, 0.0)), 0.0, STOP,
         "scores from -inf to 0: not all are numbers"),
        (Decision((), score_range=(-3e12, 0.0)), 0.0, STOP,
         "scores from -3e+12 to 0: beyond ±1e+12"),
    ],
)  # fmt: skip
def test_old_models_and_wild_scores_stop(
    decision: Decision, trained: float, outcome: GuardrailOutcome, reason: str
) -> None:
    situation = situation_of(model_trained=trained)
    assert said("freshness", decision, situation) == (outcome, reason)


def test_reading_and_deciding_have_budgets() -> None:
    assert said("latency", Decision((), seconds=0.5), situation_of()) == (
        PASS,
        "reading took 0.10 s, deciding 0.50 s",
    )
    assert said("latency", Decision((), seconds=6.0), situation_of(read_seconds=math.nan)) == (
        STOP,
        "reading took nan s, more than 20 s; deciding took 6.0 s, more than 5 s",
    )


def test_a_cluster_that_looks_as_before_passes() -> None:
    before = glimpse(pending=frozenset((1, 2)), nodes=frozenset(("n0", "n1")))
    assert said("sanity", Decision((2, 1)), situation_of(*TWO, before=before, nodes=nodes(2))) == (
        PASS,
        "the cluster looks as it did a cycle ago",
    )
    assert said("sanity", Decision((2, 1)), situation_of(*TWO)) == (
        PASS,
        "the first look: nothing to compare with",
    )


def test_waiting_jobs_that_vanish_stop_but_started_ones_do_not() -> None:
    before = glimpse(pending=frozenset(range(1, 31)))
    assert said("sanity", Decision(()), situation_of(*TWO, before=before)) == (
        STOP,
        "28 of 30 waiting jobs vanished in one cycle without having started",
    )
    started = [waiting(number) for number in range(1, 31)]
    started = [(LiveJob(job.id, job.label, "RUNNING"), factor) for job, factor in started]
    assert said("sanity", Decision(()), situation_of(*started, before=before))[0] is PASS


@pytest.mark.parametrize("wall", [NOW - 3660.0, NOW + 3540.0, math.nan])
def test_a_clock_that_jumps_stops(wall: float) -> None:
    outcome, reason = said("sanity", Decision(()), situation_of(before=glimpse(wall=wall)))
    assert outcome is STOP
    assert reason.startswith("the wall clock went ")
    assert reason.endswith(" s while 60.0 s passed")


def test_nodes_that_come_and_go_by_the_dozen_stop() -> None:
    before = glimpse(nodes=frozenset(f"n{number}" for number in range(10)))
    for state, outcome in (("DOWN", STOP), ("MIXED", PASS)):
        now = (*nodes(6), *(node for node in nodes(10, state)[6:]))
        assert said("sanity", Decision(()), situation_of(before=before, nodes=now))[0] is outcome
    now = (*nodes(6), *nodes(12)[10:])
    assert said("sanity", Decision(()), situation_of(before=before, nodes=now))[1] == (
        "of 10 usable nodes 4 went and 2 came in one cycle"
    )


def test_too_many_unreadable_rows_stop() -> None:
    rows = [waiting(number) for number in range(95)]
    some = tuple(f"row {number}: no id" for number in range(6))
    assert said("sanity", Decision(()), situation_of(*rows, doubts=some)) == (
        STOP,
        "6 of 101 rows could not be read, the first: row 0: no id",
    )
    assert said("sanity", Decision(()), situation_of(*rows[:3], doubts=some[:4]))[0] is PASS


def test_a_decision_on_jobs_that_do_not_wait_stops() -> None:
    assert said("sanity", Decision((1, 2, 9, 1)), situation_of(*TWO)) == (
        STOP,
        "1 job in the order not waiting; 1 job in the order twice",
    )


@pytest.mark.parametrize(
    ("hours", "compared", "actual", "slurm", "outcome", "reason"),
    [
        (1.5, 900, 9e9, 1.0, PASS,
         "900 jobs compared in 1.5 h of active mode: too early to tell (from 50 jobs and 2 h)"),
        (9.0, 49, 9e9, 1.0, PASS,
         "49 jobs compared in 9.0 h of active mode: too early to tell (from 50 jobs and 2 h)"),
        (9.0, 50, math.nan, 1.0, PASS, "waits in active mode are not known yet"),
        (9.0, 50, 4300.0, 3600.0, PASS,
         "50 jobs waited 1.2 h on average, 1.0 h with Slurm alone: 1.19 times as long"),
        (9.0, 50, 4500.0, 3600.0, FALL_BACK,
         "50 jobs waited 1.2 h on average, 1.0 h with Slurm alone: "
         "1.25 times as long, more than 1.2"),
        (9.0, 50, 30.0, 0.5, PASS,
         "50 jobs waited 30.0 s on average, 0.5 s with Slurm alone (counted as 10.0 min): "
         "0.05 times as long"),
        (9.0, 50, 108.0, 66.0, PASS,
         "50 jobs waited 1.8 min on average, 1.1 min with Slurm alone (counted as 10.0 min): "
         "0.18 times as long"),
        (9.0, 50, 900.0, 0.0, FALL_BACK,
         "50 jobs waited 15.0 min on average, 0 s with Slurm alone (counted as 10.0 min): "
         "1.50 times as long, more than 1.2"),
    ],
)  # fmt: skip
def test_the_tripwire_needs_time_jobs_and_longer_waits(
    hours: float, compared: int, actual: float, slurm: float, outcome: GuardrailOutcome, reason: str
) -> None:
    situation = situation_of(
        active_hours=hours, compared_jobs=compared, actual_wait=actual, slurm_wait=slurm
    )
    assert said("tripwire", Decision(()), situation) == (outcome, reason)


def changes(*jobs: int) -> list[Change]:
    return [Change(job, str(job), Knob.SITE_FACTOR, 0, 7, "first") for job in jobs]


def test_only_so_many_changes_are_sent_those_worth_most_first() -> None:
    queue = [waiting(job, priority=100 - job) for job in (1, 2, 3, 4)]
    situation = situation_of(*queue, sent=((1399.0, 900), (1401.0, 4), (4990.0, 3)))
    config = GuardrailConfig(changes_per_cycle=3, changes_per_hour=9)
    sent, verdict = limit_changes(changes(1, 2, 3, 4), situation, config, order=(4, 1, 2, 3))
    assert [change.job for change in sent] == [1, 4]  # 4 goes from the end to the head
    assert verdict == (
        "rate",
        AMENDED,
        "2 of 4 changes may be sent now (3 per cycle; 7 of 9 sent in the last hour): "
        "those that are worth most first",
    )
    sent, verdict = limit_changes(changes(2, 1), situation, config, order=(1, 2))
    assert [change.job for change in sent] == [2, 1]
    assert verdict[1:] == (PASS, "2 changes; 7 of 9 sent in the last hour")


def test_near_its_end_the_budget_goes_to_the_head_of_the_order() -> None:
    order = tuple(range(1, 201))
    config = GuardrailConfig(changes_per_hour=100)
    situation = situation_of(sent=((4990.0, 90),))
    sent, verdict = limit_changes(changes(7, 150, 8), situation, config, order)
    assert [change.job for change in sent] == [7, 8]
    assert verdict[1:] == (
        AMENDED,
        "the budget nears its end (90 of 100 sent in the last hour): only 2 changes for the head "
        "of the order, 1 more wait",
    )


def test_a_budget_that_is_spent_ends_active_mode_and_says_so() -> None:
    config = GuardrailConfig(changes_per_hour=9)
    sent, verdict = limit_changes(changes(1), situation_of(sent=((4990.0, 30),)), config)
    assert sent == ()
    assert verdict.outcome is FALL_BACK
    assert verdict.reason.startswith("30 of 9 sent in the last hour: what is left does not do")


def test_the_worst_of_all_outcomes_is_the_answer_and_amendments_stand() -> None:
    situation = situation_of(
        waiting(1, site=9), waiting(2), active_hours=9.0, compared_jobs=50,
        actual_wait=900.0, slurm_wait=100.0, read_seconds=99.0,
    )  # fmt: skip
    decision, verdicts, outcome = guard(Decision((1, 2)), situation, GuardrailConfig())
    assert decision.order == (2,)
    assert outcome is FALL_BACK
    assert {verdict.outcome for verdict in verdicts} == set(GuardrailOutcome)
