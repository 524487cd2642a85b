"""Wrong arguments of the library's functions are answered with a sentence."""

from __future__ import annotations

from typing import Any

import pytest

import dovetail
from dovetail.domain.errors import ConfigError
from dovetail.traces.synthetic import WORKLOADS, synthesize

TRACE = synthesize(WORKLOADS["helios"], jobs=20, seed=1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"trace": 7}, r"trace is 7 \(int\), expected a file, synth:NAME, or a Trace"),
        ({"cluster": None}, r"cluster is None \(NoneType\), expected such as 64x8:v100"),
        ({"placement": 3}, r"placement is 3 \(int\), expected a name, or a Placement"),
        (
            {"backfill": True},
            r"backfill is True \(bool\), expected none, easy, conservative or slurm",
        ),
        ({"estimates": 0.5}, r"estimates is 0.5 \(float\), expected such as noisy:1"),
        ({"seed": "one"}, r"seed is 'one' \(str\), expected a whole number"),
    ],
)
def test_simulate_says_which_argument_is_wrong(given: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        dovetail.simulate(**{"trace": TRACE, "cluster": "1x8", **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"policies": "fcfs"}, r"policies is 'fcfs' \(str\), expected a list of policies"),
        ({"sequences": 1.5}, r"sequences is 1.5 \(float\), expected a whole number"),
        ({"length": None}, r"length is None"),
        ({"workers": "2"}, r"workers is '2'"),
    ],
)
def test_compare_says_which_argument_is_wrong(given: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        dovetail.compare(**{"trace": TRACE, "cluster": "1x8", "policies": ["fcfs"], **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"repair": "drop"}, r"repair is 'drop' \(str\), expected a list of names"),
        ({"columns": ["a"]}, r"columns is \['a'\] \(list\), expected such as"),
        ({"format": 1}, r"format is 1"),
        ({"jobs": 2.5}, r"jobs is 2.5"),
        ({"load": "much"}, r"load is 'much' \(str\), expected a number"),
    ],
)
def test_load_trace_says_which_argument_is_wrong(given: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        dovetail.load_trace("synth:helios", **given)


@pytest.mark.parametrize("given", [{"jobs": 0}, {"seed": -1}, {"load": float("nan")}])
def test_numbers_out_of_range_are_errors_of_configuration(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        dovetail.load_trace("synth:helios", **given)


def test_what_is_no_policy_is_told_what_would_be_one() -> None:
    with pytest.raises(ConfigError, match=r"3 is no policy; expected ORDER"):
        dovetail.compare(TRACE, "1x8", [3])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match=r"3 is no policy; expected ORDER"):
        dovetail.simulate(TRACE, "1x8", order=3)  # type: ignore[arg-type]
