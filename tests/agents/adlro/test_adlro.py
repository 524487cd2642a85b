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
from dovetail.policies.learned.assignment_network import AssignmentNetwork
from dovetail.simulator.kernel.rows import Part, RunRow
from dovetail.telemetry.wear import WearRule, WearWatch

torch = pytest.importorskip("torch")

from dovetail.agents.adlro.networks import NETWORKS, PairNetwork  # noqa: E402
from dovetail.agents.adlro.training import AdlroConfig, by_network, train_adlro  # noqa: E402
from dovetail.agents.dqn.config import DqnConfig  # noqa: E402
from dovetail.agents.dqn.learner import greedy  # noqa: E402

SMALL = GpuAssignmentConfig(gpus={"volta": 2, "turing": 1, "radeon": 1}, jobs=24, shown=6)


def shaken(config: GpuAssignmentConfig, seed: int = 0) -> PairNetwork:
    torch.manual_seed(seed)
    network = PairNetwork(config)
    for part in network.parameters():
        torch.nn.init.normal_(part, 0.0, 0.3)
    return network


def test_the_exported_network_decides_as_the_trained_one() -> None:
    network = shaken(SMALL)
    exported = AssignmentNetwork(network.arrays())
    batch = GpuAssignmentBatch(AssignmentPool(SMALL, range(8)), 8)
    batch.begin({"episode": np.arange(8)})
    for _ in range(20):
        parts = {
            name: torch.from_numpy(part.astype(np.float32)) for name, part in batch.seen.items()
        }
        values = network(parts).detach().masked_fill(parts["mask"] <= 0, -1e9).numpy()
        ours = np.array(
            [exported.choose({n: part[e] for n, part in batch.seen.items()}) for e in range(8)]
        )
        # Two idle GPUs of one type are equally good: either may be chosen.
        assert np.allclose(values[np.arange(8), ours], values.max(axis=1), atol=1e-4)
        batch.step(greedy(network, batch.seen))


def test_exchanging_gpus_exchanges_their_values() -> None:
    exported = AssignmentNetwork(shaken(SMALL).arrays())
    batch = GpuAssignmentBatch(AssignmentPool(SMALL, [3]))
    batch.begin({"episode": 0})
    seen = {name: part[0] for name, part in batch.seen.items()}
    order = np.array([2, 0, 3, 1])
    values = exported.values(seen["gpus"], seen["jobs"], seen["speeds"], seen["queue"])
    other = exported.values(
        seen["gpus"][order], seen["jobs"], seen["speeds"][:, order], seen["queue"]
    )
    assert np.allclose(values[:-1].reshape(-1, 4)[:, order], other[:-1].reshape(-1, 4), atol=1e-5)
    assert values[-1] == pytest.approx(other[-1], abs=1e-5)


def test_damaged_weights_are_refused() -> None:
    good = shaken(SMALL).arrays()
    for bad in ({}, {**good, "last": good["last"][:3]}, {**good, "job": good["job"] * np.nan}):
        with pytest.raises(ConfigError):
            AssignmentNetwork(bad)


@pytest.mark.parametrize("name", list(NETWORKS))
def test_every_network_trains_and_plays(name: str) -> None:
    dqn = DqnConfig(steps=320, environments=4, warm_up=64, batch=16, prioritised=True,
                    duelling=name == "cnn")  # fmt: skip
    network = train_adlro(AdlroConfig(name, SMALL, dqn, looks=2))
    played = play_pool(AssignmentPool(SMALL, range(3)), by_network(network))
    assert np.all(np.isfinite(played.completion_time))


def test_before_learning_the_network_is_its_prior() -> None:
    pool = AssignmentPool(SMALL, range(4))
    ours = play_pool(pool, by_network(PairNetwork(SMALL)))
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
