"""What is taken out of readings, and what becomes of the rest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.domain.errors import ConfigError
from dovetail.telemetry import CheckConfig, ReadingFault, RunningStatistics, check, normalise
from dovetail.telemetry.quantities import COLUMN, QUANTITIES
from dovetail.telemetry.readings import GpuLabels, GpuName, Readings, ReadingsBuilder

Sample = tuple[str, str, float, float]


def readings(*samples: Sample, now: float = 1000.0) -> Readings:
    """Samples of (GPU, quantity, value, when)."""
    builder = ReadingsBuilder(now)
    for gpu, quantity, value, taken in samples:
        row = builder.row(GpuName("n1", gpu), GpuLabels())
        builder.put(row, COLUMN[quantity], value, taken)
    return builder.build()


@pytest.mark.parametrize(
    ("samples", "fault", "quantity"),
    [
        ([("0", "utilisation", 0.5, 999), ("1", "power", 99, 999)], "MISSING", "utilisation"),
        ([("0", "utilisation", 0.5, 800)], "STALE", "utilisation"),
        ([("0", "utilisation", 0.5, 2000)], "STALE", "utilisation"),
        ([("0", "utilisation", math.nan, 999)], "NOT_A_NUMBER", "utilisation"),
        ([("0", "power", math.inf, 999)], "NOT_A_NUMBER", "power"),
        ([("0", "temperature", -300, 999)], "OUT_OF_RANGE", "temperature"),
        ([("0", "utilisation", 1.5, 999)], "OUT_OF_RANGE", "utilisation"),
        (
            [("0", "utilisation", 0.1, 999), ("0", "utilisation", 0.9, 999)],
            "CONTRADICTORY",
            "utilisation",
        ),
        (
            [("0", "utilisation", 0.0, 999), ("0", "dram_active", 0.9, 999)],
            "CONTRADICTORY",
            "utilisation",
        ),
    ],
)
def test_each_fault_is_taken_out_and_counted(
    samples: list[Sample], fault: str, quantity: str
) -> None:
    checked = check(readings(*samples))
    assert checked.faults[ReadingFault[fault], quantity] == 1
    assert math.isnan(checked.readings.column(quantity)[0]) or fault == "MISSING"
    assert ReadingFault[fault].value in checked.sentence()


def test_what_nobody_tells_is_not_missing() -> None:
    checked = check(readings(("0", "utilisation", 0.5, 999), ("1", "utilisation", 0.7, 999)))
    assert (checked.faults, checked.good) == ({}, 2)


def test_a_slight_overshoot_is_clipped_and_no_fault() -> None:
    checked = check(readings(("0", "utilisation", 1.01, 999)))
    assert (checked.faults, checked.readings.column("utilisation").tolist()) == ({}, [1.0])


def test_two_samples_that_nearly_agree_are_no_contradiction() -> None:
    found = readings(("0", "utilisation", 0.50, 999), ("0", "utilisation", 0.52, 999))
    assert check(found).readings.column("utilisation").tolist() == [0.5]


def test_a_reading_is_counted_under_one_fault_only() -> None:
    checked = check(readings(("0", "power", math.inf, 10)))
    assert checked.faults == {(ReadingFault.STALE, "power"): 1}


def test_how_old_a_reading_may_be_is_configured() -> None:
    found = readings(("0", "power", 100.0, 900))
    assert check(found, CheckConfig(max_age=200)).good == 1
    with pytest.raises(ConfigError, match="max_age"):
        CheckConfig(max_age=0)


anything = st.floats(allow_nan=True, allow_infinity=True)
cases = st.lists(
    st.tuples(
        st.sampled_from("0123"), st.sampled_from(list(QUANTITIES)), anything, st.floats(0, 2000)
    ),
    max_size=30,
)


@given(cases)
def test_whatever_is_read_what_comes_out_lies_in_0_to_1(samples: list[Sample]) -> None:
    checked = check(readings(*samples))
    values, known = normalise(checked.readings)
    assert values.dtype == np.float32
    assert np.all((values >= 0.0) & (values <= 1.0))
    assert int(known.sum()) == checked.good
    # Every sample's cell is either good or counted under one fault.
    cells = {(gpu, quantity) for gpu, quantity, _, _ in samples}
    bad = sum(n for (fault, _), n in checked.faults.items() if fault is not ReadingFault.MISSING)
    assert checked.good + bad == len(cells)


@given(st.lists(st.lists(st.floats(-1e3, 1e3) | st.just(math.nan), max_size=5), max_size=6))
def test_statistics_batch_by_batch_are_those_of_all_at_once(batches: list[list[float]]) -> None:
    statistics = RunningStatistics(1)
    for batch in batches:
        statistics.update(np.array(batch).reshape(-1, 1))
    known = np.array([x for batch in batches for x in batch if not math.isnan(x)])
    assert statistics.count[0] == len(known)
    if len(known) > 1:
        assert statistics.mean[0] == pytest.approx(known.mean(), abs=1e-8)
        assert statistics.deviation[0] == pytest.approx(known.std(ddof=1), abs=1e-6)
    again = RunningStatistics.from_dict(statistics.to_dict())
    assert np.array_equal(again.mean, statistics.mean)


def test_damaged_statistics_are_refused() -> None:
    good = RunningStatistics(2).to_dict()
    for bad in ({}, {**good, "mean": [1.0]}, {**good, "count": [-1, 0]}, {**good, "mean": "x"}, 3):
        with pytest.raises(ConfigError):
            RunningStatistics.from_dict(bad)
