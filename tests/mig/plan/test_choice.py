"""Configurations for a demand: the exact optimum on small cases, and demands from traces."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.errors import ConfigError, MigRuleError, TraceError
from dovetail.domain.jobs import JobColumns
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.gpus.table import GPU_MODELS
from dovetail.mig.plan.choice import choose_configurations, headroom
from dovetail.mig.plan.demand import demand_of, parse_demand
from tests.oracles.mig_choice import all_served, best_headrooms, headrooms

A100, A30 = GPU_MODELS["a100-40"], GPU_MODELS["a30-24"]


def demands(model: GpuModel) -> st.SearchStrategy[dict[str, float]]:
    names = st.sampled_from([profile.name for profile in model.profiles])
    return st.dictionaries(names, st.integers(1, 40).map(lambda n: n / 4), min_size=1)


@settings(max_examples=40, deadline=None)
@given(demand=demands(A100), gpus=st.integers(1, 3))
def test_the_choice_is_the_best_of_all_combinations(demand: dict[str, float], gpus: int) -> None:
    chosen = choose_configurations(demand, gpus, A100)
    assert headrooms(demand, tuple(chosen), A100) == best_headrooms(demand, gpus, A100)
    assert headroom(demand, chosen, A100) == best_headrooms(demand, gpus, A100)[0]


@settings(max_examples=60, deadline=None)
@given(demand=demands(A30), gpus=st.integers(1, 6))
def test_the_choice_is_the_best_for_gpus_of_four_slices_too(
    demand: dict[str, float], gpus: int
) -> None:
    chosen = choose_configurations(demand, gpus, A30)
    assert len(chosen) == gpus
    assert headrooms(demand, tuple(chosen), A30) == best_headrooms(demand, gpus, A30)


@settings(max_examples=150, deadline=None)
@given(
    needs=st.lists(st.sampled_from([p.name for p in A100.profiles]), min_size=1, max_size=6),
    numbers=st.lists(st.integers(1, 19), min_size=1, max_size=2),
)
def test_a_headroom_of_one_or_more_means_that_all_needs_are_served_at_once(
    needs: list[str], numbers: list[int]
) -> None:
    demand = {name: float(needs.count(name)) for name in needs}
    instances = [part.profile for n in numbers for part in A100.configuration(n).slices]
    assert (headroom(demand, numbers, A100) >= 1) == all_served(needs, instances, A100)


def test_no_size_that_is_asked_for_is_shut_out() -> None:
    assert choose_configurations({"7g.40gb": 0.01, "1g.5gb": 100}, 1, A100) == [1]
    assert choose_configurations({"7g.40gb": 0.01, "1g.5gb": 100}, 8, A100) == [1] + [19] * 7


def test_hundreds_of_gpus_get_a_configuration_each() -> None:
    demand = {"1g.5gb": 700.0, "2g.10gb": 150.0, "7g.40gb": 60.0}
    chosen = choose_configurations(demand, 300, A100)
    assert len(chosen) == 300
    # Seven compute slices per GPU are all there is: 700 + 2 × 150 + 7 × 60 of 2,100.
    assert 1.3 < headroom(demand, chosen, A100) <= 2100 / 1420


def test_a_table_names_sizes_or_profiles() -> None:
    assert parse_demand("1g=40, 1g.10gb=2,2g=10,7g=3,1g.5gb=2", A100) == {
        "1g.5gb": 42.0, "1g.10gb": 2.0, "2g.10gb": 10.0, "7g.40gb": 3.0,
    }  # fmt: skip
    assert parse_demand("5g=1", A100) == {"7g.40gb": 1.0}


@pytest.mark.parametrize("text", ["", "1g", "1g=", "1g=x", "1g=-1", "1g=inf", "1g=nan", "9g=1"])
def test_a_table_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_demand(text, A100)


@pytest.mark.parametrize("demand", [{}, {"1g.5gb": 0.0}, {"1g.5gb": -1.0}, {"2g.11gb": 1.0}])
def test_a_demand_for_nothing_or_for_what_there_is_not_is_refused(
    demand: dict[str, float],
) -> None:
    with pytest.raises(ConfigError):
        choose_configurations(demand, 1, A100)


def test_a_history_needs_what_it_kept_busy() -> None:
    jobs = JobColumns(
        submit=[0, 50, 100], run=[100, 300, 50], gpus=[1, 2, 4], mig=["1g.5gb", "2g.10gb", None]
    ).build()
    assert demand_of(jobs, A100) == {"1g.5gb": 1.0, "2g.10gb": 6.0, "7g.40gb": 2.0}
    with pytest.raises(MigRuleError, match=r"a30-24 has no profile '1g.5gb'"):
        demand_of(jobs, A30)
    with pytest.raises(TraceError, match="all submitted at once"):
        demand_of(jobs.take(slice(0, 1)), A100)
