"""Durations, amounts, moments, states and numbers, in all the ways that Slurm writes them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.slurm.amounts import amount_of, gigabytes_of
from dovetail.slurm.durations import NO_LIMIT, seconds_of
from dovetail.slurm.json_values import number_of, plain
from dovetail.slurm.moments import moment_of
from dovetail.slurm.states import job_state, node_state, node_state_of_words
from dovetail.slurm.words import NOTHING, text_of, words_of

DAY = 86_400


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5:00", 300), ("1:00:00", 3600), ("2-03:00:01", 183601), ("7", 420), ("1-0", DAY)],
)
def test_durations(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    "text",
    [*sorted(NO_LIMIT), "NOT_SET", "", "-5", "x-1:00", "1-", "1:", "1:2:3:4", "٣:00", "1" * 10_000],
)
def test_durations_that_are_none(text: str) -> None:
    assert math.isnan(seconds_of(text))


@given(st.integers(0, 10**6), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_durations_come_back_as_they_went(days: int, hours: int, minutes: int, rest: int) -> None:
    seconds = days * DAY + hours * 3600 + minutes * 60 + rest
    clock = f"{hours:02d}:{minutes:02d}:{rest:02d}"
    assert seconds_of(f"{days}-{clock}") == seconds
    assert seconds_of(clock) == seconds - days * DAY
    assert seconds_of(f"{clock}.250") == seconds - days * DAY + 0.25
    assert seconds_of(f"{days}-{hours}") == days * DAY + hours * 3600
    assert seconds_of(f"{days}-{hours}:{minutes}") == seconds - rest
    assert seconds_of(f"{minutes}:{rest:02d}") == minutes * 60 + rest
    assert seconds_of(f"{days}") == days * 60


@given(st.text(alphabet="0123456789-:.UNLIMTED ", max_size=20))
def test_no_duration_is_negative(text: str) -> None:
    assert not seconds_of(text) < 0


def slurms_amount(number: float, unit: int) -> str:
    """As Slurm's convert_num_unit writes it: the largest unit that leaves 1 or more."""
    while number >= 1024 and unit < 5:
        number, unit = number / 1024, unit + 1
    whole = number == int(number)
    return (f"{number:.0f}" if whole else f"{number:.2f}") + ["", "K", "M", "G", "T", "P"][unit]


@given(st.integers(0, 10**9))
def test_amounts_come_back_within_their_two_decimals(number: int) -> None:
    assert amount_of(slurms_amount(number, 0)) == pytest.approx(number, rel=0.005)
    megabytes = slurms_amount(number, 2)
    assert gigabytes_of(megabytes) == pytest.approx(number / 1024, rel=0.005)
    assert amount_of(str(number)) == number
    assert gigabytes_of(str(number)) == gigabytes_of(f"{number}M") == number / 1024


@pytest.mark.parametrize("text", ["", "12X", "-1", "1.2.3", "0n", "K", "1e9", "9" * 5000])
def test_amounts_that_are_none(text: str) -> None:
    assert math.isnan(amount_of(text))


@given(st.integers(1, 10**11))
def test_moments_come_back_as_they_went(seconds: int) -> None:
    assert moment_of(str(seconds)) == seconds


@pytest.mark.parametrize("text", ["Unknown", "N/A", "None", "0", "", "2026-11-16T08:47:46", "١٢"])
def test_moments_that_are_none(text: str) -> None:
    assert math.isnan(moment_of(text))


@given(st.lists(st.text(alphabet="abc-_1", min_size=1), unique=True))
def test_lists_of_words_come_back_as_they_went(words: list[str]) -> None:
    assert words_of(",".join(words)) == tuple(words)


@pytest.mark.parametrize("text", sorted(NOTHING))
def test_all_words_for_nothing_are_nothing(text: str) -> None:
    assert (text_of(text), words_of(text)) == ("", ())


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("PENDING", "PENDING"),
        ("CANCELLED by 1000", "CANCELLED"),
        ("CANCELLED+", "CANCELLED"),
        ("OUT_OF_MEMORY", "OUT_OF_MEMORY"),
        (["RUNNING", "COMPLETING"], "COMPLETING"),
        (["PENDING", "REQUEUED"], "PENDING"),
        (["CANCELLED", "SPECIAL_EXIT"], "PENDING"),
        (["STAGE_OUT"], "RUNNING"),
        ([], "RUNNING"),
    ],
)
def test_states_of_jobs(words: Any, state: str) -> None:
    assert job_state(words) == state


@pytest.mark.parametrize(
    ("text", "base", "flags"),
    [
        ("IDLE", "IDLE", set()),
        ("DOWN*", "DOWN", {"NOT_RESPONDING"}),
        ("MIXED+DRAIN", "MIXED", {"DRAIN"}),
        ("IDLE+CLOUD+POWERED_DOWN", "IDLE", {"CLOUD", "POWERED_DOWN"}),
        ("ALLOCATED+PLANNED*", "ALLOCATED", {"PLANNED", "NOT_RESPONDING"}),
        ("mixed~*", "MIXED", {"POWERED_DOWN", "NOT_RESPONDING"}),
    ],
)
def test_states_of_nodes(text: str, base: str, flags: set[str]) -> None:
    assert node_state(text) == (base, frozenset(flags))
    assert node_state_of_words([base.lower(), *flags]) == (base, frozenset(flags))


@given(st.integers(0, 10**12))
def test_json_numbers_of_all_versions_are_the_same(number: int) -> None:
    new = {"set": True, "infinite": False, "number": number}
    assert plain(new) == plain(number) == number
    assert number_of(new) == number_of(number) == number


def test_json_numbers_that_are_not_set_have_a_default() -> None:
    unset = {"set": False, "infinite": False, "number": 7}
    assert number_of(unset, 3) == number_of(None, 3) == 3
    assert math.isnan(number_of(unset))
    assert number_of({"set": True, "infinite": True, "number": 0}) == math.inf


def test_a_json_number_that_is_set_has_one() -> None:
    with pytest.raises(ValueError, match="set has none"):
        number_of({"set": True, "infinite": False}, 3)
