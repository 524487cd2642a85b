"""The ordering of a kernel network: the same numbers as in training, whatever is selected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail.agents.rltune.starts import STARTS
from dovetail.domain.errors import ConfigError
from dovetail.policies.features import (
    EVERY_FEATURE,
    FEATURES,
    describe_forecasts,
    describe_jobs,
)
from dovetail.policies.ordering.kernel_network import kernel_network, shapes
from dovetail.policies.ordering.learned import BLOCK
from dovetail.policies.selections import SAMPLED, SELECTIONS, select
from dovetail.testing.scores import advice
from tests.policies.test_learned_ordering import tables

Arrays = dict[str, np.ndarray[Any, Any]]


def drawn(name: str, seed: int) -> Arrays:
    """A network of random weights on a selection of features."""
    random, selection = np.random.default_rng(seed), SELECTIONS[name]
    arrays: Arrays = {
        part: random.normal(size=shape) for part, shape in shapes(selection.width).items()
    }
    arrays["features"] = np.array(selection.names())
    return arrays


@pytest.mark.parametrize("name", list(SELECTIONS))
@pytest.mark.parametrize("fragmentation", [0.2, 0.8])
def test_the_network_is_what_numpy_says_it_is(name: str, fragmentation: float) -> None:
    jobs, accounts, demands, cluster = tables(np.random.default_rng(1), 2 * BLOCK + 7)
    cluster["fragmentation"] = fragmentation
    jobs["exempt"][3] = True
    arrays = drawn(name, seed=2)
    found, gate, keep = advice(kernel_network(arrays, "net"), jobs, accounts, cluster, demands)

    seen = np.empty((len(EVERY_FEATURE), len(jobs)))
    describe_jobs(jobs, accounts, demands, cluster, np.arange(len(jobs)), seen)
    describe_forecasts(jobs, cluster, np.arange(len(jobs)), seen)
    given = np.empty((len(jobs), SELECTIONS[name].width))
    select(SELECTIONS[name].table(), seen, fragmentation, len(jobs), given)
    hidden = given
    for part in ("wide", "middle", "narrow"):
        hidden = np.maximum(0.0, hidden @ arrays[part][:-1] + arrays[part][-1])
    logit = hidden @ arrays["logit"][:-1] + arrays["logit"][-1]
    logit = (logit + given @ arrays["skip"][:-1] + arrays["skip"][-1])[:, 0]
    usual = np.arange(len(jobs)) != 3
    assert np.allclose(found[usual], -logit[usual])
    assert np.allclose(gate[usual], (logit - arrays["decline"])[usual])
    assert found[3] < found[usual].min()
    assert gate[3] == 0.0
    assert not keep.any()


def test_sampled_features_follow_the_situation() -> None:
    names = SAMPLED.names()
    assert [row[6] for row in names] == ["urgency", "urgency", "job_size", "job_size"]
    assert [row[7] for row in names] == ["free_nodes", "ways_to_schedule"] * 2
    assert not {"free_nodes", "fragmentation", "urgency"} & set(SELECTIONS["raw"].usual)
    assert SELECTIONS["all"].usual == FEATURES


@pytest.mark.parametrize("name", list(SELECTIONS))
def test_the_start_as_saf_is_the_area_times_the_temperature(name: str) -> None:
    jobs, accounts, demands, cluster = tables(np.random.default_rng(3), 40)
    jobs["log_estimate"] = np.minimum(jobs["log_estimate"], np.log(30 * 86_400))
    selection = SELECTIONS[name]
    rule = STARTS["saf"](selection, float(cluster["total_gpus"][0]), 2.0)
    assert rule is not None
    arrays = {part: np.zeros(shape) for part, shape in shapes(selection.width).items()}
    arrays["skip"][:-1, 0], arrays["decline"][0] = rule.skip, rule.decline
    arrays["features"] = np.array(selection.names())
    found, gate, _ = advice(kernel_network(arrays, "net"), jobs, accounts, cluster, demands)
    assert np.allclose(found, 2.0 * (jobs["log_gpus"] + jobs["log_estimate"]))
    assert gate.min() >= 0.0


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("wide", np.zeros((3, 3)), "shape"),
        ("skip", np.full((9, 1), np.nan), "finite"),
        ("decline", np.array(["a"]), "expected numbers"),
        ("features", np.array([["colour"] * 8] * 4), "colour"),
        ("features", np.array(["urgency"]), "situations"),
    ],
)
def test_arrays_of_another_network_are_refused(part: str, value: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        kernel_network({**drawn("sampled", 0), part: value}, "net")
