"""Replays played on Ray: a real cluster of two processes on this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dovetail.agents.catalogue import ChoiceConfig
from dovetail.agents.choice.candidates import reference
from dovetail.agents.engines import ENGINES
from dovetail.agents.evolution.training import EvolutionMember
from dovetail.agents.history import Site
from dovetail.agents.players import LocalPlayers
from dovetail.agents.ray_players import LOOPBACK, STAY_LOCAL, RayPlayers
from dovetail.agents.replays import Replay, ReplayCell
from dovetail.agents.training import train
from dovetail.domain.errors import ConfigError
from dovetail.evaluation.comparison import compare
from dovetail.evaluation.transfer import transfer
from dovetail.evaluation.unseen import Draws, evaluate_unseen
from dovetail.evaluation.warm_windows import evaluate_windows
from dovetail.policies.learned.families import FAMILIES
from dovetail.policies.policy import Policy
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of

TRACE = synthesize(WORKLOADS["helios"], jobs=1500, seed=1, load=1.0, cluster_gpus=64)


class TwoNodes(NamedTuple):
    address: str
    lose_one: Callable[[], None]


@pytest.fixture
def after_ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ends Ray whatever happened to the test; what it puts into the environment goes again."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    for name, value in STAY_LOCAL.items():
        monkeypatch.setenv(name, value)
    # Ray makes its workers so nice that beside other tests they hardly run.
    monkeypatch.setenv("RAY_worker_niceness", "0")
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


@pytest.fixture
def two_nodes(after_ray: None) -> Iterator[TwoNodes]:
    """A Ray cluster of two nodes with a processor each, of which one can be lost."""
    cluster = import_module("ray.cluster_utils").Cluster(shutdown_at_exit=False)
    local = {"num_cpus": 1, "node_ip_address": LOOPBACK, "object_store_memory": 100 << 20}
    try:
        cluster.add_node(include_dashboard=False, **local)
        second = cluster.add_node(**local)
        yield TwoNodes(cluster.address, lambda: cluster.remove_node(second, allow_graceful=False))
    finally:
        import_module("ray").shutdown()
        cluster.shutdown()


def test_compare_and_evaluate_find_the_same_on_a_cluster_that_loses_a_node(
    two_nodes: TwoNodes,
) -> None:
    engine = ENGINES["ray"](two_nodes.address)
    lost: list[int] = []

    def lose_one(done: int, total: int, policy: str) -> None:
        if not lost:
            lost.append(done)
            two_nodes.lose_one()

    names = ["fcfs", "saf", "sjf@lifetime", "dovetail"]
    asked: dict[str, Any] = {"estimates": "noisy:1", "sequences": 3, "length": 300}
    there = compare(TRACE, "8x8", names, workers=2, progress=lose_one, engine=engine, **asked)
    here = compare(TRACE, "8x8", names, workers=1, **asked)
    assert lost == [1]
    for ours, theirs in zip(there.rows, here.rows, strict=True):
        assert ours.label == theirs.label
        assert dict(ours.metrics) | {"sim_seconds": 0} == dict(theirs.metrics) | {"sim_seconds": 0}
        assert ours.wait_percentiles == theirs.wait_percentiles
    policies = [Policy("dovetail"), Policy("saf")]
    draws = Draws(TRACE, "noisy:1", 1, 2)
    found = [
        (
            evaluate_unseen(TRACE, cluster_of("8x8"), policies, draws, 0.3, **by),
            evaluate_windows(TRACE, cluster_of("8x8"), policies, draws, 1000, 2, 256, **by),
        )
        for by in ({"engine": engine}, {"engine": LocalPlayers})
    ]
    assert repr(found[0]) == repr(found[1])


def test_a_training_and_its_transfer_find_the_same_on_a_cluster_that_loses_a_node(
    two_nodes: TwoNodes, tmp_path: Path
) -> None:
    engine = ENGINES["ray"](two_nodes.address)
    lost: list[Any] = []
    site, config = Site(TRACE, cluster_of("8x8")), ChoiceConfig("noisy:1", longest=300)

    def lose_one(progress: Any) -> None:
        if not lost:
            lost.append(progress)
            two_nodes.lose_one()

    there, here = tmp_path / "there", tmp_path / "here"
    found = train("choice", None, [site], there, config, lose_one, workers=2, engine=engine)
    expected = train("choice", None, [site], here, config)
    assert len(lost) == 1
    assert found.card == expected.card
    assert (there / "policy.npz").read_bytes() == (here / "policy.npz").read_bytes()
    asked = partial(transfer, {"a": there}, {"a": site}, Policy("fcfs"), "noisy:1", seeds=2)
    assert asked(engine=engine) == asked()


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
