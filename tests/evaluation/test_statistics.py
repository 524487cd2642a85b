"""Intervals hold what they should, and are the same every time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.evaluation.statistics import (
    difference_of_means,
    geometric_mean_ratio,
    ratio_of_means,
)


def test_a_constant_difference_has_an_interval_of_no_width() -> None:
    found = difference_of_means([3.0, 5.0, 9.0], [1.0, 3.0, 7.0])
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))


def test_pairs_are_kept_together() -> None:
    # Windows differ a thousandfold, the two policies by a tenth: unpaired, nothing could be said.
    theirs = np.geomspace(1, 1000, 40)
    found = ratio_of_means(1.1 * theirs, theirs)
    assert (found.low, found.high) == pytest.approx((1.1, 1.1))


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.Generator(np.random.PCG64(1))
    held = 0
    for seed in range(100):
        noise = random.normal(0.5, 1.0, 40)
        found = difference_of_means(noise, np.zeros(40), seed=seed)
        held += found.low <= 0.5 <= found.high
    assert 87 <= held <= 99


def test_a_wider_confidence_gives_a_wider_interval_and_seeds_repeat() -> None:
    values, zeros = np.arange(20.0), np.zeros(20)
    wide = difference_of_means(values, zeros, confidence=0.99)
    narrow = difference_of_means(values, zeros, confidence=0.5)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert wide == difference_of_means(values, zeros, confidence=0.99)


def test_a_ratio_to_nothing_is_not_known() -> None:
    found = ratio_of_means([1.0, 2.0], [0.0, 0.0])
    assert math.isnan(found.value)
    assert str(found) == "–"
    assert str(ratio_of_means([1.0, 2.0], [0.0, 1.0])) == "3"


def test_geometric_means_weigh_every_window_alike() -> None:
    assert geometric_mean_ratio([2.0, 500.0], [1.0, 1000.0]) == pytest.approx(1.0)
    with pytest.raises(ConfigError, match="above 0"):
        geometric_mean_ratio([0.0], [1.0])


@pytest.mark.parametrize(("a", "b"), [([1.0], [1.0, 2.0]), ([], [])])
def test_values_without_a_partner_are_refused(a: list[float], b: list[float]) -> None:
    with pytest.raises(ConfigError, match="pairs"):
        difference_of_means(a, b)
