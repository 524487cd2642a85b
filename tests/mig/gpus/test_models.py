"""GPU models: their legal cuts, derived from the rules, against what is published."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.errors import ConfigError, MigRuleError, UnknownName
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.gpus.profiles import InstancePlacement, MigProfile, MigRule, MigSlice
from dovetail.mig.gpus.table import GPU_MODELS
from tests.simulator.test_against_oracle import quick

A100 = GPU_MODELS["a100-40"]
FIRST_PROFILES = replace(A100, profiles=tuple(p for p in A100.profiles if p.name != "1g.10gb"))
"""The A100 of the first drivers, without the 1g of double memory."""

Compute = tuple[int, ...]


def compute_of(model: GpuModel) -> list[Compute]:
    """Compute slices of the instances of each maximal layout, in order."""
    return [
        tuple(model.profile(part.profile).compute for part in layout)
        for layout in model.maximal_layouts()
    ]


PUBLISHED = [tuple(part.compute for part in cut.slices) for cut in A100.configurations]


def test_the_rules_give_the_published_number_of_layouts() -> None:
    assert len(compute_of(FIRST_PROFILES)) == len(PUBLISHED) == 19
    assert len(A100.maximal_layouts()) == 78


def test_the_published_orders_are_the_rules_but_for_one() -> None:
    rules = set(compute_of(FIRST_PROFILES))
    assert set(PUBLISHED) - rules == {(1, 1, 1, 1, 1, 2)}
    assert rules - set(PUBLISHED) == {(2, 2, 1, 1, 1)}
    assert PUBLISHED.index((1, 1, 1, 1, 1, 2)) + 1 == 18


def test_without_order_the_published_list_is_what_the_rules_give_fourteen_sets() -> None:
    rules = {tuple(sorted(cut)) for cut in compute_of(FIRST_PROFILES)}
    assert rules == {tuple(sorted(cut)) for cut in PUBLISHED}
    assert len(rules) == 14
    assert len({tuple(sorted(cut.counts.items())) for cut in A100.configurations}) == 14


def test_twelve_sets_use_up_the_compute_or_the_memory_slices() -> None:
    full = set()
    for layout in FIRST_PROFILES.maximal_layouts():
        parts = [FIRST_PROFILES.profile(part.profile) for part in layout]
        if sum(p.compute for p in parts) == 7 or sum(p.memory_slices for p in parts) == 8:
            full.add(tuple(sorted(p.compute for p in parts)))
    assert len(full) == 12
    assert {tuple(sorted(cut)) for cut in PUBLISHED} - full == {(1, 2, 3), (1, 1, 1, 3)}


def test_double_memory_fills_the_last_slice_of_the_published_cuts_but_two() -> None:
    unfilled = [
        cut.number
        for cut in A100.configurations
        if sum(A100.profile(part.profile).memory_slices for part in cut.slices) < 8
    ]
    assert unfilled == [4, 19]


@pytest.mark.parametrize("model", GPU_MODELS.values(), ids=GPU_MODELS)
def test_every_numbered_configuration_is_legal_and_maximal(model: GpuModel) -> None:
    maximal = {tuple(sorted(part.profile for part in layout)) for layout in model.maximal_layouts()}
    for number, cut in enumerate(model.configurations, start=1):
        names = tuple(sorted(part.profile for part in cut.slices))
        assert cut.number == number
        assert names in maximal
        model.check(model.place(names))


def test_the_numbers_of_the_a100_are_kept_and_mean_the_same_cut_on_larger_gpus() -> None:
    assert A100.configuration(12).counts == {"2g.10gb": 3, "1g.10gb": 1}
    assert GPU_MODELS["h200-141"].configuration(3).counts == {
        "4g.71gb": 1,
        "2g.35gb": 1,
        "1g.35gb": 1,
    }
    assert GPU_MODELS["h100-94"].configuration(1).counts == {"7g.94gb": 1}


@pytest.mark.parametrize(
    ("name", "profiles"),
    [
        ("b200-180", "1g.23gb 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb"),
        ("gb200-186", "1g.23gb 1g.47gb 2g.47gb 3g.93gb 4g.93gb 7g.186gb"),
        ("gh200-144", "1g.18gb 1g.36gb 2g.36gb 3g.72gb 4g.72gb 7g.144gb"),
        ("rtx-pro-6000-96", "1g.24gb 2g.48gb 4g.96gb"),
    ],
)
def test_newer_models_have_the_profiles_of_nvidias_guide(name: str, profiles: str) -> None:
    model = GPU_MODELS[name]
    assert [profile.name for profile in model.profiles] == profiles.split()
    most = [len(profile.starts) for profile in model.profiles]
    assert most == ([7, 4, 3, 2, 1, 1] if model.compute_slices == 7 else [4, 2, 1])


@pytest.mark.parametrize("model", GPU_MODELS.values(), ids=GPU_MODELS)
def test_power_never_falls_as_more_slices_are_busy(model: GpuModel) -> None:
    assert model.watts[0] > 0
    assert np.all(np.diff(model.watts) >= 0)


@pytest.mark.parametrize("model", GPU_MODELS.values(), ids=GPU_MODELS)
@settings(quick, max_examples=60)
@given(data=st.data())
def test_check_accepts_exactly_the_layouts_that_keep_every_rule(
    model: GpuModel, data: st.DataObject
) -> None:
    names = st.sampled_from([profile.name for profile in model.profiles])
    places = st.builds(InstancePlacement, names, st.integers(0, model.memory_slices - 1))
    layout = data.draw(st.lists(places, min_size=1, max_size=5))
    profiles = [model.profile(part.profile) for part in layout]
    taken = [s for p, part in zip(profiles, layout, strict=True) for s in p.room(part.start)]
    legal = (
        all(part.start in p.starts for p, part in zip(profiles, layout, strict=True))
        and len(taken) == len(set(taken))
        and sum(p.compute for p in profiles) <= model.compute_slices
    )
    if legal:
        model.check(layout)
    else:
        with pytest.raises(MigRuleError):
            model.check(layout)


@pytest.mark.parametrize("name", ["a30-24", "rtx-pro-6000-96"])
def test_a_gpu_of_four_slices_is_cut_in_five_ways(name: str) -> None:
    cuts = [[part.compute for part in cut.slices] for cut in GPU_MODELS[name].configurations]
    assert cuts == [[4], [2, 2], [2, 1, 1], [1, 1, 2], [1, 1, 1, 1]]


@pytest.mark.parametrize("model", [A100, GPU_MODELS["a30-24"]], ids=["seven slices", "four slices"])
def test_maximal_layouts_are_those_of_an_exhaustive_search(model: GpuModel) -> None:
    """Every set of places that takes no slice twice, and to which no place can be added."""
    places = [InstancePlacement(p.name, start) for p in model.profiles for start in p.starts]
    room = [frozenset(model.profile(p.profile).room(p.start)) for p in places]
    apart = {
        frozenset(chosen)
        for size in range(1, model.compute_slices + 1)
        for chosen in combinations(range(len(places)), size)
        if sum(len(room[i]) for i in chosen) == len(frozenset().union(*(room[i] for i in chosen)))
        and sum(model.profile(places[i].profile).compute for i in chosen) <= model.compute_slices
    }
    every = range(len(places))
    maximal = [one for one in apart if not any(one | {i} in apart for i in every if i not in one)]
    expected = {frozenset(places[i] for i in one) for one in maximal}
    assert {frozenset(layout) for layout in model.maximal_layouts()} == expected


@pytest.mark.parametrize(
    ("layout", "rule", "words"),
    [
        ([("1g.6gb", 0)], MigRule.UNKNOWN_PROFILE, "has no profile '1g.6gb'"),
        ([("4g.20gb", 0), ("4g.20gb", 4)], MigRule.TOO_MANY, "at most 1"),
        ([("4g.20gb", 0), ("2g.10gb", 4), ("2g.10gb", 6)], MigRule.COMPUTE, "8 of 7 compute"),
        ([("3g.20gb", 0), ("3g.20gb", 4), ("1g.5gb", 0)], MigRule.MEMORY, "9 of 8 memory"),
        ([("2g.10gb", 6)], MigRule.START, "it can at 0, 2, 4"),
        ([("1g.5gb", 7)], MigRule.START, "memory slice 7"),
        ([("3g.20gb", 0), ("1g.5gb", 3)], MigRule.OVERLAP, "both take memory slice 3"),
        ([("1g.5gb", 2), ("1g.5gb", 2)], MigRule.OVERLAP, "both take memory slice 2"),
    ],
)
def test_a_broken_rule_is_named(layout: list[tuple[str, int]], rule: MigRule, words: str) -> None:
    with pytest.raises(MigRuleError, match=words) as caught:
        A100.check([InstancePlacement(*part) for part in layout])
    assert caught.value.rule == rule
    assert str(caught.value).endswith(f"({rule})")


@pytest.mark.parametrize("model", GPU_MODELS.values(), ids=GPU_MODELS)
def test_whatever_keeps_to_the_amounts_can_be_arranged(model: GpuModel) -> None:
    amounts = [range(len(profile.starts) + 1) for profile in model.profiles]
    legal = 0
    for counts in product(*amounts):
        pairs = list(zip(model.profiles, counts, strict=True))
        if (
            sum(p.compute * n for p, n in pairs) <= model.compute_slices
            and sum(p.memory_slices * n for p, n in pairs) <= model.memory_slices
        ):
            names = [p.name for p, n in pairs for _ in range(n)]
            layout = model.place(names)
            model.check(layout)
            assert Counter(part.profile for part in layout) == Counter(names)
            legal += 1
    assert legal > len(model.configurations)


def test_a_gpu_whose_starts_clash_says_that_nothing_can_be_arranged() -> None:
    fixed = GpuModel(
        "toy",
        2,
        3,
        (MigProfile(MigSlice(1, 1), 1, (0,)), MigProfile(MigSlice(1, 2), 2, (0,))),
        (10.0, 20.0, 30.0),
    )
    with pytest.raises(MigRuleError) as caught:
        fixed.place(["1g.1gb", "1g.2gb"])
    assert caught.value.rule == MigRule.ARRANGEMENT


def test_unknown_models_and_numbers_are_refused_in_words() -> None:
    with pytest.raises(UnknownName, match="did you mean 'a100-40'"):
        GPU_MODELS["a100-41"]
    with pytest.raises(ConfigError, match="has no configuration 20; it has 1 to 19"):
        A100.configuration(20)


def test_mig_configurations_fit_the_device_and_count_as_published() -> None:
    assert len(A100.configurations) == 19
    assert all(sum(s.compute for s in c.slices) <= 7 for c in A100.configurations)
    assert all(sum(s.memory_gb for s in c.slices) <= 40 for c in A100.configurations)
    day = [1, 1, 2, 2, 3, 3, 12, 12]
    assert sum(len(A100.configurations[number - 1].slices) for number in day) == 20
