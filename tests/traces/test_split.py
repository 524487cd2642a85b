"""Parts of a trace keep the order of time, and windows stay inside."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.errors import ConfigError, TraceError
from dovetail.domain.jobs import JobColumns
from dovetail.domain.trace import Trace
from dovetail.traces.split import split, windows
from tests.builders import job, trace_of


def trace(count: int) -> Trace:
    return Trace(JobColumns(submit=list(range(count)), run=[1] * count, gpus=[1] * count).build())


@settings(max_examples=50, deadline=None, derandomize=True)
@given(count=st.integers(2, 50), fraction=st.floats(0.01, 0.99))
def test_both_parts_have_jobs_and_the_first_ends_before_the_second(
    count: int, fraction: float
) -> None:
    early, late = split(trace(count), fraction)
    assert early.jobs.ids.tolist() + late.jobs.ids.tolist() == [str(i) for i in range(count)]
    assert len(early) >= 1
    assert len(late) >= 1


def test_nine_tenths_come_first_by_default() -> None:
    early, late = split(trace(100))
    assert (len(early), len(late)) == (90, 10)


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.5, float("nan")])
def test_a_fraction_that_leaves_a_part_empty_is_refused(fraction: float) -> None:
    with pytest.raises(ConfigError, match="expected between 0 and 1"):
        split(trace(10), fraction)


def test_a_single_job_cannot_be_split() -> None:
    with pytest.raises(TraceError, match="cannot be split"):
        split(trace(1))


@settings(max_examples=50, deadline=None, derandomize=True)
@given(count=st.integers(1, 40), length=st.integers(1, 40), seed=st.integers(0, 99))
def test_windows_lie_inside_the_trace(count: int, length: int, seed: int) -> None:
    starts = windows(trace(40), count, length, seed)
    assert len(starts) == count
    assert all(0 <= start <= 40 - length for start in starts)
    assert starts == windows(trace(40), count, length, seed)


def test_windows_reach_both_ends_of_the_trace() -> None:
    starts = windows(trace(10), 500, 8, seed=0)
    assert set(starts) == {0, 1, 2}


def test_a_window_longer_than_the_trace_is_refused_with_the_length_to_take() -> None:
    with pytest.raises(TraceError, match="take windows of 5 or fewer"):
        windows(trace(5), 1, 6, seed=0)


@pytest.mark.parametrize(("count", "length", "seed"), [(-1, 2, 0), (1, 0, 0), (1, 2, -1)])
def test_senseless_windows_are_refused(count: int, length: int, seed: int) -> None:
    with pytest.raises(ConfigError):
        windows(trace(5), count, length, seed)


def test_more_windows_than_anybody_could_replay_are_refused() -> None:
    with pytest.raises(ConfigError, match="expected 0 to 1,000,000"):
        windows(trace_of(job(0, 1), job(1, 1)), 10**30, 1, seed=0)
