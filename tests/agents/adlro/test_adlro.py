"""ADLRO learns, runs without torch as with it, and leaves a slow GPU alone once it is found."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dovetail.agents.adlro.evaluation import play_pool
from dovetail.agents.adlro.heuristics import HEURISTICS, fair_shares
from dovetail.agents.adlro.hyper_score import hyper_score
from dovetail.compiled.tables import dtype_of
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.envs.gpu_assignment import AssignmentPool, GpuAssignmentBatch, GpuAssignmentConfig
from dovetail.envs.gpu_assignment.by_type import facts_of, gpu_actions, type_choices, types_of
from dovetail.policies.learned.assignment_facts import AssignmentFacts, describe_assignment
from dovetail.policies.learned.assignment_network import AssignmentNetwork
from dovetail.simulator.kernel.rows import Part, RunRow
from dovetail.telemetry.wear import WearRule, WearWatch

torch = pytest.importorskip("torch")

from dovetail.agents.adlro.networks import NETWORKS, PairNetwork  # noqa: E402
from dovetail.agents.adlro.steps import encode  # noqa: E402
from dovetail.agents.adlro.training import AdlroConfig, by_network, train_adlro  # noqa: E402
from dovetail.agents.dqn.config import DqnConfig  # noqa: E402
from dovetail.agents.dqn.learner import greedy  # noqa: E402

SMALL = GpuAssignmentConfig(gpus={"volta": 2, "turing": 1, "radeon": 1}, jobs=24, shown=6)


def shaken(config: GpuAssignmentConfig, seed: int = 0) -> PairNetwork:
    torch.manual_seed(seed)
    network = PairNetwork(config)
    for name, part in network.named_parameters():
        if name != "gain":
            torch.nn.init.normal_(part, 0.0, 0.3)
    return network


def test_the_exported_network_decides_as_the_trained_one() -> None:
    network = shaken(SMALL)
    exported = AssignmentNetwork(network.arrays())
    batch = GpuAssignmentBatch(AssignmentPool(SMALL, range(8)), 8)
    batch.begin({"episode": np.arange(8)})
    for _ in range(20):
        choices = greedy(network, encode(batch.seen))
        facts = facts_of(batch.seen)
        for e in range(8):
            alone = AssignmentFacts(*(part[e] for part in facts))
            job, number = exported.choose(alone, bool(batch.seen["mask"][e, -1]))
            ours = len(alone.estimate) * 3 if job < 0 else job * 3 + number
            assert ours == choices[e]
        batch.step(gpu_actions(batch.seen, choices))


def test_exchanging_types_exchanges_their_values() -> None:
    exported = AssignmentNetwork(shaken(SMALL).arrays())
    batch = GpuAssignmentBatch(AssignmentPool(SMALL, [3]))
    batch.begin({"episode": 0})
    facts = facts_of(batch.seen)
    order = np.array([2, 0, 1])
    other = facts._replace(
        speed=facts.speed[..., order], free=facts.free[:, order], total=facts.total[:, order],
        ready=facts.ready[:, order], left=facts.left[:, order],
    )  # fmt: skip
    values, wait = exported.values(describe_assignment(facts))
    others, other_wait = exported.values(describe_assignment(other))
    assert np.allclose(values[..., order], others, atol=1e-5)
    assert np.allclose(wait, other_wait, atol=1e-5)


def test_choices_by_type_and_actions_by_gpu_are_the_same() -> None:
    batch = GpuAssignmentBatch(AssignmentPool(SMALL, range(4)), 4)
    batch.begin({"episode": np.arange(4)})
    rule = HEURISTICS["sjf-best-fit"](SMALL)
    for _ in range(20):
        actions = rule(batch.seen)
        again = gpu_actions(batch.seen, type_choices(batch.seen, actions))
        kinds = types_of(batch.seen)
        gpus = len(kinds)
        assert np.array_equal(actions // gpus, again // gpus)
        assert np.array_equal(kinds[actions % gpus], kinds[again % gpus])
        batch.step(again)


def test_what_a_run_costs_is_charged_when_it_starts() -> None:
    """Far ahead as the horizon is, the sums of both ways to charge are equal."""
    batch = GpuAssignmentBatch(AssignmentPool(SMALL, [5]))
    batch.begin({"episode": 0})
    rule = HEURISTICS["fcfs"](SMALL)
    paid, charged = 0.0, 0.0
    while True:
        batch.step(rule(batch.seen))
        paid += float(batch.rewards[0])
        charged += float(batch.charged(1e9)[0])
        if batch.dones[0]:
            break
    assert charged == pytest.approx(paid, rel=1e-5)


@pytest.mark.parametrize("name", list(NETWORKS))
def test_every_network_trains_and_plays(name: str) -> None:
    dqn = DqnConfig(steps=200, environments=4, warm_up=64, batch=16, prioritised=name == "cnn",
                    duelling=name != "types", returns=3)  # fmt: skip
    kept: list[float] = []
    done = train_adlro(
        AdlroConfig(name, SMALL, dqn, looks=2, episodes=32), keep=lambda b: kept.append(b.best)
    )
    played = play_pool(AssignmentPool(SMALL, range(3)), by_network(done.network))
    assert np.all(np.isfinite(played.completion_time))
    assert done.best == min(done.start, *done.looks) == kept[-1]


@pytest.mark.parametrize("episodes", [0, 5001])
def test_no_episode_is_both_for_training_and_for_validation(episodes: int) -> None:
    with pytest.raises(ConfigError, match="expected 1 to 5000"):
        AdlroConfig(episodes=episodes)


def test_before_learning_the_network_is_its_prior() -> None:
    pool = AssignmentPool(SMALL, range(4))
    ours = play_pool(pool, by_network(PairNetwork(SMALL, duelling=False)))
    theirs = play_pool(pool, HEURISTICS["index"](SMALL))
    assert np.array_equal(ours.completion_time, theirs.completion_time)


def test_fair_shares_lift_the_worst_off_kind() -> None:
    config = GpuAssignmentConfig()
    share = fair_shares(config)
    count = np.array(list(config.gpus.values()))
    speed = np.array([list(speeds.values()) for speeds in config.speeds.values()])
    alone = speed @ count
    got = (share * speed) @ count / alone
    assert np.allclose(share.sum(axis=0), 1.0)
    assert got.max() - got.min() < 0.03
    assert got.min() > 1.0 / 3.0  # more than a third of all GPUs would give each


@pytest.mark.parametrize(("value", "score"), [(1.0, 109.96), (0.0, 100.0), (-1.0, 100.0)])
def test_hyper_score(value: float, score: float) -> None:
    assert hyper_score(value) == pytest.approx(score, abs=0.01)
    assert hyper_score(float("nan")) == 100.0
    assert hyper_score(1e-300) == 100.0


def test_a_gpu_at_half_speed_is_found_and_then_avoided() -> None:
    """The first Volta silently halves; run times give it away, and its speed is rated anew."""
    config = GpuAssignmentConfig(slow={0: 0.5}, noise=0.3, jobs=400, load=0.8)
    believed = config.believed_speeds()
    pool = AssignmentPool(config, [7])
    watch = WearWatch(WearRule(0.3))
    seen_jobs: set[int] = set()
    found_after: list[int] = []
    work = {True: 0, False: 0}  # jobs started on GPU 0, after and before it was found

    def look(batch: GpuAssignmentBatch) -> None:
        ended = _ended_jobs(batch, believed, seen_jobs)
        for gpu, predicted, actual in ended:
            watch.job_ended(str(gpu), predicted, actual)
            work[bool(found_after)] += gpu == 0
        slow = watch.speeds()
        if "0" in slow and not found_after:
            found_after.append(sum(work.values()))
            rated = believed.copy()
            rated[:, 0] *= slow["0"]
            batch.believe(rated)

    played = play_pool(pool, HEURISTICS["index"](config), look)
    blind = play_pool(AssignmentPool(config, [7]), HEURISTICS["index"](config))
    assert found_after
    assert found_after[0] <= 10
    assert set(watch.speeds()) == {"0"}
    assert played.completion_time[0] < blind.completion_time[0]


def _rows(address: int, count: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """A table of the simulator's world, read in place."""
    memory = (ctypes.c_char * (count * kind.itemsize)).from_address(address)
    found: NDArray[Any] = np.frombuffer(memoryview(memory), kind)
    return found


def _ended_jobs(
    batch: GpuAssignmentBatch, believed: Floats, known: set[int]
) -> list[tuple[int, float, float]]:
    """(GPU, predicted, actual) of jobs that have ended since the last look."""
    world = batch.state.worlds[0]
    count = int(world["job_count"])
    runs = _rows(int(world["runs"]), count, dtype_of(RunRow))
    parts = _rows(int(world["part_table"]), count, dtype_of(Part))
    drawn = batch.pool.config.draw(np.random.default_rng(batch.pool.seeds[0]))
    kinds = batch.pool.episodes.kinds[0]
    found = []
    for job in np.flatnonzero(runs["end"] <= world["now"]).tolist():
        if job in known:
            continue
        known.add(job)
        gpu = int(parts["node"][runs["part_first"][job]])
        actual = float(runs["end"][job] - runs["start"][job])
        found.append((gpu, float(drawn.estimates[job] / believed[kinds[job], gpu]), actual))
    return found
