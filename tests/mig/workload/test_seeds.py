"""Seeds of days: those of one purpose can never be those of another."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.domain.errors import ConfigError
from dovetail.mig.agents.control_config import ControlTraining
from dovetail.mig.agents.placement_config import PlacementTraining
from dovetail.mig.workload.seeds import (
    DaySeeds,
    EvaluationDays,
    SearchDays,
    TrainingDays,
    ValidationDays,
)

NUMBERS = st.integers(-5, 1_100_000)
RUNS = st.integers(-1, 5)


@st.composite
def days(draw: st.DrawFn) -> DaySeeds | None:
    """Days of any purpose; None if they cannot be built."""
    kind = draw(st.sampled_from((EvaluationDays, SearchDays, TrainingDays, ValidationDays)))
    count = draw(NUMBERS)
    try:
        if kind is SearchDays:
            return SearchDays(count)
        if kind is EvaluationDays:
            return EvaluationDays(draw(NUMBERS), count)
        if kind is TrainingDays:
            return TrainingDays(draw(RUNS), count)
        return ValidationDays(draw(RUNS), count)
    except ConfigError:
        return None


@given(st.lists(days(), min_size=2, max_size=5))
def test_days_of_two_purposes_share_no_seed(chosen: list[DaySeeds | None]) -> None:
    built = [one for one in chosen if one is not None]
    for one, other in combinations(built, 2):
        if type(one) is not type(other):
            assert one.seeds[-1] < other.seeds[0] or other.seeds[-1] < one.seeds[0]


@pytest.mark.parametrize(
    ("first", "count"), [(899_999, 2), (900_000, 1), (-1, 3), (0, 0), (1_000_000, 1)]
)
def test_an_evaluation_beyond_its_range_cannot_be_built(first: int, count: int) -> None:
    with pytest.raises(ConfigError):
        EvaluationDays(first, count)


def test_trainings_draw_the_days_of_their_types() -> None:
    control = ControlTraining(hours=1.0, rate=1.0, days=2, validation_days=1, seed=3)
    assert "seed 7000001" in control.learning_days()[1].trace.notes[0]
    assert "seed 8000000" in control.choosing_days()[0].trace.notes[0]
    placement = PlacementTraining(hours=1.0, rate=1.0)
    played = placement.played(placement.clusters[0], TrainingDays(2, 1))
    assert "seed 5000000" in played.workloads[0].trace.notes[0]
