"""Replays played on Ray: a real cluster of two processes on this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

import pytest

from dovetail.agents.choice.candidates import reference
from dovetail.agents.engines import ENGINES
from dovetail.agents.evolution.training import EvolutionMember
from dovetail.agents.players import LocalPlayers
from dovetail.agents.ray_players import STAY_LOCAL, RayPlayers
from dovetail.agents.replays import Replay, ReplayCell
from dovetail.domain.errors import ConfigError
from dovetail.policies.learned.families import FAMILIES
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of

TRACE = synthesize(WORKLOADS["helios"], jobs=1500, seed=1, load=1.0, cluster_gpus=64)


@pytest.fixture
def after_ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ends Ray whatever happened to the test; what it puts into the environment goes again."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    for name, value in STAY_LOCAL.items():
        monkeypatch.setenv(name, value)
    yield
    import_module("ray").shutdown()


@pytest.mark.usefixtures("after_ray")
def test_ray_finds_what_one_process_finds_and_stays_on_the_loopback() -> None:
    cells = [ReplayCell(TRACE, cluster_of("8x8"), None, first, seed=3) for first in (500, 900)]
    rival = reference("noisy:1")
    replays = [Replay(cell, cell.play(rival)) for cell in cells]
    family = FAMILIES["index"]
    tasks = [
        (number, EvolutionMember("index", family.start + step * family.scale, "noisy:1"))
        for step in range(3)
        for number in (0, 1)
    ]
    with LocalPlayers(replays) as here, RayPlayers(replays, workers=2) as there:
        ray = import_module("ray")
        assert {node["NodeManagerAddress"] for node in ray.nodes()} == {"127.0.0.1"}
        assert repr(here.play(tasks)) == repr(there.play(tasks))  # NaN equals nothing
    assert not ray.is_initialized()


def test_a_missing_ray_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install 'dovetail-scheduler\[ray\]'"):
        ENGINES["ray"](None)


@pytest.mark.usefixtures("after_ray")
@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense", "127.0.0.1:99999"])
def test_an_address_where_no_ray_is_fails_at_once(address: str) -> None:
    with (
        pytest.raises(ConfigError, match=f"--address '?{address}"),
        RayPlayers([], workers=1, address=address),
    ):
        pass


def test_an_address_without_ray_is_refused() -> None:
    with pytest.raises(ConfigError, match="--address is for --engine ray"):
        ENGINES["local"]("head:6379")
