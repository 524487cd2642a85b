"""Each ordering's formula on values worked out by hand; lower scores go first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from dovetail.compiled.tables import Row, Table, new_table
from dovetail.domain.errors import ConfigError
from dovetail.domain.policy import AccountFacts, ClusterFacts, JobFacts, Varies
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.ordering.aged_estimates import slurm_shorter
from dovetail.policies.ordering.as_configured import SlurmSettings, as_configured
from dovetail.testing.scores import scores

Told = dict[str, Any]

NOW = 100.0
ORIGIN = 1.0
WEEK = 604_800.0
JOB: Told = {
    "submit": 40.0,
    "estimate": 30.0,
    "predicted": 20.0,
    "gpus": 4,
    "deadline": 250.0,
    "priority": 7.5,
    "partition_factor": 0.5,
    "qos_factor": 0.4,
    "account": 0,
}
"""At NOW it has waited for 60 s, twice its estimate."""


def table(row: type[Row], facts: Sequence[Told]) -> Table:
    """Facts as the table that policies read."""
    filled = new_table(row, len(facts))
    for index, told in enumerate(facts):
        for name, value in told.items():
            filled[name][index] = value
        if row is JobFacts and "size" not in told:  # jobs with GPUs are as large as these
            filled["size"][index] = told["gpus"]
    return filled


def values(
    name: str, *jobs: Told, now: float = NOW, fair_share: Sequence[float] = (0.25,)
) -> list[float]:
    """The scores of jobs, each like JOB but for what is told, on 32 GPUs."""
    found = scores(
        ORDERINGS[name],
        table(JobFacts, [JOB | told for told in jobs]),
        table(AccountFacts, [{"fair_share": share} for share in fair_share]),
        table(ClusterFacts, [{"now": now, "origin": ORIGIN, "total_gpus": 32.0}]),
    )
    return [float(value) for value in found]


def score(name: str, now: float = NOW, **told: Any) -> float:
    """The score of one job."""
    return values(name, told, now=now)[0]


def order(name: str, *jobs: Told) -> list[int]:
    """The jobs in the order in which they would be taken."""
    keys = [math.inf if math.isnan(value) else value for value in values(name, *jobs)]
    return sorted(range(len(jobs)), key=lambda row: (keys[row], row))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fcfs", 40.0),
        ("lcfs", -40.0),
        ("sjf", 30.0),
        ("ljf", -30.0),
        ("saf", 4 * 30.0),
        ("saf-1.5", 4 * 2.0 * 30.0),
        ("saf-2", 4 * 4 * 30.0),
        ("wfp3", -(2.0**3) * 4),  # waited for twice its estimate
        ("unicep", -60.0 / (2.0 * 30.0)),  # log2(4) is 2
        ("edf", 250.0),
        ("priority", -7.5),
        ("qssf", 20.0 * 4),  # the prediction, not the estimate
    ],
)
def test_the_formula_gives_the_value_worked_out_by_hand(name: str, expected: float) -> None:
    assert score(name) == expected


def test_every_ordering_gives_one_number_per_job() -> None:
    for name in ORDERINGS:
        first, _, third = values(name, {}, {"gpus": 1}, {})
        assert first == third, name


def test_the_higher_the_power_of_the_size_the_less_an_estimate_counts() -> None:
    narrow_and_long, wide_and_short = {"gpus": 1, "estimate": 100.0}, {"gpus": 16, "estimate": 5.0}
    assert order("saf", narrow_and_long, wide_and_short) == [1, 0]
    assert order("saf-1.5", narrow_and_long, wide_and_short) == [0, 1]


def test_f1_weighs_length_and_width_against_the_time_of_submission() -> None:
    # log10(1000) · 2 + 870 · log10(100 − 1 + 1)
    assert score("f1", estimate=1000.0, gpus=2, submit=100.0) == pytest.approx(6.0 + 1740.0)


def test_f1_of_the_first_job_is_its_length_and_width_alone() -> None:
    assert score("f1", estimate=100.0, gpus=3, submit=ORIGIN) == pytest.approx(6.0)


def test_unicep_counts_one_gpu_as_two_so_that_nothing_is_divided_by_zero() -> None:
    assert score("unicep", gpus=1) == -60.0 / 30.0
    assert score("unicep", gpus=2) == -60.0 / 30.0
    assert score("unicep", gpus=8) == -60.0 / (3.0 * 30.0)


def test_unicep_prefers_the_narrow_job_of_two_that_wait_alike() -> None:
    assert order("unicep", {"gpus": 16}, {"gpus": 2}) == [1, 0]


def test_wfp3_takes_the_older_of_two_like_jobs_first() -> None:
    assert order("wfp3", {"submit": 70.0}, {"submit": 10.0}) == [1, 0]


def test_wfp3_takes_the_short_job_first_of_two_that_waited_long() -> None:
    assert order("wfp3", {"estimate": 1000.0}, {"estimate": 10.0}) == [1, 0]


def test_wfp3_takes_the_wide_job_first_of_two_that_wait_alike() -> None:
    assert order("wfp3", {"gpus": 1}, {"gpus": 8}) == [1, 0]


def test_orders_of_aged_lengths_divide_by_powers_of_size_and_slowdown() -> None:
    late = {"estimate": 20.0, "gpus": 5}  # after 60 s its slowdown is 4
    expected = {"wide": 4.0, "wide-2": 0.8, "aged": 10.0, "aged-fully": 5.0, "aged-wide": 2.0}
    assert {name: score(f"sjf-{name}", **late) for name in expected} == expected
    assert score("sjf-aged-wide-2", **late) == 0.4
    assert score("sjf-aged", now=40.0) == score("sjf-aged-fully", now=40.0) == 30.0  # on arrival


def test_by_an_aged_length_who_waited_for_long_passes_a_shorter_job() -> None:
    old_and_longer, new_and_shorter = (
        {"submit": 0.0, "estimate": 30.0},
        {"submit": 100.0, "estimate": 20.0},
    )
    assert order("sjf", old_and_longer, new_and_shorter) == [1, 0]
    assert order("sjf-aged", old_and_longer, new_and_shorter) == [0, 1]


def test_wfp3_and_unicep_score_zero_on_arrival() -> None:
    assert score("wfp3", now=40.0) == 0.0
    assert score("unicep", now=40.0) == 0.0


def test_edf_takes_jobs_without_a_deadline_last() -> None:
    jobs = ({"deadline": math.nan}, {"deadline": 9e9}, {"deadline": -5.0})
    assert order("edf", *jobs) == [2, 1, 0]


def test_priority_takes_the_higher_first() -> None:
    assert order("priority", {"priority": -1.0}, {"priority": 3.0}, {"priority": 0.0}) == [1, 2, 0]


def test_multifactor_adds_five_weighted_factors() -> None:
    waited_half_a_week = 40.0 + WEEK / 2
    # age 500, fair share 250, size 4/32 · 1000 = 125, partition 500, QOS 400
    assert score("slurm-multifactor", now=waited_half_a_week) == -1775.0


def test_a_second_to_run_costs_what_seconds_of_waiting_give() -> None:
    now = 40.0 + WEEK / 2  # as above; an estimate of 30 s on 4 GPUs
    assert score("slurm-shorter-10", now=now) == 10 * 30 * 1000 / WEEK - 1775.0
    assert score("slurm-shorter-30", now=now) == 30 * 30 * 1000 / WEEK - 1775.0
    assert score("slurm-smaller-3", now=now) == pytest.approx(3 * 120 * 1000 / WEEK - 1775.0)


def test_what_a_second_costs_is_forgiven_as_a_job_waits() -> None:
    def cost(waited: float) -> float:
        now = 40.0 + 3600 * waited
        return score("slurm-smaller-100-24h", now=now) - score("slurm-multifactor", now=now)

    whole = 100 * 120 * 1000 / WEEK
    assert cost(0.0) == pytest.approx(whole)
    assert cost(6.0) == pytest.approx(0.75 * whole)
    assert cost(24.0) == pytest.approx(0.0, abs=1e-9)
    assert cost(100.0) == 0.0  # and no reward


def test_a_job_waits_for_shorter_ones_only_so_long() -> None:
    long, short = {"submit": 0.0, "estimate": 3600.0}, {"estimate": 60.0}
    before, after = ({"submit": 10 * 3540.0 + side} for side in (-60.0, +60.0))
    assert order("slurm-shorter-10", long, short | before) == [1, 0]
    assert order("slurm-shorter-10", long, short | after) == [0, 1]


def test_at_a_site_its_own_priority_counts() -> None:
    slurm = {"PriorityWeightAge": "5000", "PriorityMaxAge": "1-0", "PriorityWeightFairshare": "80"}
    facts = table(JobFacts, [JOB | {"points": 7.0}])
    accounts = table(AccountFacts, [{"fair_share": 0.25}])
    moment = table(ClusterFacts, [{"now": NOW, "origin": ORIGIN, "total_gpus": 32.0}])
    (configured,) = scores(as_configured(SlurmSettings.of(slurm)), facts, accounts, moment)
    (at_site,) = scores(ORDERINGS["slurm-shorter-10"].under(slurm), facts, accounts, moment)
    (without,) = scores(slurm_shorter(0.0).under(slurm), facts, accounts, moment)
    assert math.ceil(without) == configured  # which is a whole number
    assert at_site - without == pytest.approx(10 * 30 * 5000 / 86_400)
    ageless = ORDERINGS["slurm-shorter-10"].under({"PriorityWeightAge": "0"})
    assert ageless.parameters == ORDERINGS["slurm-shorter-10"].parameters
    assert ORDERINGS["saf"].under(slurm) is ORDERINGS["saf"]


WEIGHED = {
    "PriorityType": "priority/multifactor",
    "PriorityWeightAge": "5000",
    "PriorityMaxAge": "1-00:00:00",
}


def test_beside_a_running_slurm_the_priority_that_it_tells_counts() -> None:
    told = [JOB | {"priority": 900.0, "submit": NOW - 3600.0}]
    moment = table(ClusterFacts, [{"now": NOW, "origin": ORIGIN, "total_gpus": 32.0}])
    accounts = table(AccountFacts, [{"fair_share": 0.25}])

    def beside(name: str, slurm: dict[str, str]) -> float:
        return scores(
            ORDERINGS[name].beside_slurm(slurm), table(JobFacts, told), accounts, moment
        ).item()

    each = 5000 / 86_400  # points that a second of waiting gives
    assert beside("slurm-shorter-10", WEIGHED) == pytest.approx(10 * 30 * each - 900.0)
    whole = 100 * 120 * each  # of which an hour forgives half
    assert beside("slurm-smaller-100-2h", WEIGHED) == pytest.approx(whole / 2 - 900.0)
    assert ORDERINGS["saf"].beside_slurm({}) is ORDERINGS["saf"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"PriorityType": "priority/basic"}, "priority/basic, which makes none"),
        ({"PriorityWeightAge": "0"}, "PriorityWeightAge is 0"),
    ],
)
def test_a_slurm_without_ages_has_no_priority_to_bend(settings: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        ORDERINGS["slurm-shorter-10"].beside_slurm(WEIGHED | settings)


@pytest.mark.parametrize(("cost", "hours"), [(-1.0, 1.0), (math.nan, 1.0), (1.0, 0.0)])
def test_costs_that_mean_nothing_are_refused(cost: float, hours: float) -> None:
    with pytest.raises(ConfigError, match="expected"):
        slurm_shorter(cost, hours)


def test_multifactor_lets_age_count_for_a_week_at_most() -> None:
    one, four = (score("slurm-multifactor", now=40.0 + weeks * WEEK) for weeks in (1, 4))
    assert one == four == -2275.0


def test_multifactor_prefers_the_account_that_used_less() -> None:
    jobs = ({"account": 0}, {"account": 1})
    greedy, modest = values("slurm-multifactor", *jobs, fair_share=(0.1, 0.9))
    assert modest < greedy


@pytest.mark.parametrize("name", list(ORDERINGS))
def test_an_ordering_says_truly_whether_its_scores_vary_while_jobs_wait(name: str) -> None:
    now, later = score(name, now=NOW), score(name, now=NOW + 50.0)
    assert (now != later) == (ORDERINGS[name].varies is not Varies.NEVER)
