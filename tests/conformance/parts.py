"""What the parts of each registry are held to: one function per registry, called for each part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from dovetail import testing
from dovetail.agents.adlro.evaluation import play_pool
from dovetail.agents.players import LocalPlayers
from dovetail.domain.errors import ClusterError, ConfigError
from dovetail.domain.metrics import summary
from dovetail.domain.policy import Backfill
from dovetail.envs import QueuePriority, QueuePriorityConfig, QueuePriorityVector, SyntheticWindows
from dovetail.envs.gpu_assignment.batch import AssignmentPool
from dovetail.envs.gpu_assignment.config import GpuAssignmentConfig
from dovetail.envs.renderers import moment
from dovetail.envs.selector_allocator.reward import METRIC_NAMES, RewardWeights
from dovetail.live.config import GuardrailConfig, SlurmConfig
from dovetail.live.model.decision import Decision
from dovetail.policies.features import EVERY_FEATURE
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.policy import backfill_named
from dovetail.policies.selections import SELECTIONS
from dovetail.prediction import predict
from dovetail.testing.schedules import check_replays, crowded_trace, replay
from dovetail.traces.clusters import read_cluster
from dovetail.traces.clusters.shape import Shape
from dovetail.traces.reader import read_trace
from dovetail.traces.synthetic import synthesize
from tests.conformance import mig_parts
from tests.envs.scenes import small_pool
from tests.envs.selector_allocator.scenes import small_pair_pool
from tests.live.guardrails.cases import situation_of, waiting
from tests.traces.samples import SAMPLES

Check = Callable[[str, Any, Path], None]

SHORT: dict[str, dict[str, Any]] = {
    "evolution": {
        "epochs": 2, "population": 4, "batch": 1, "replays": 1, "length": 200, "validate_every": 1,
        "estimates": "noisy:1",
    },
    "rltune": {
        "epochs": 1, "episodes_per_epoch": 4, "length": 32, "windows": 4, "environments": 2,
        "validate_every": 1, "estimates": "noisy:1",
    },
    "choice": {"estimates": "noisy:1"},
    "adlro": {"steps": 2_000, "jobs": 20, "estimates": "noisy:1"},
    "selector-allocator": {
        "imitated": 2, "imitation_passes": 1, "epochs": 1, "episodes_per_epoch": 4, "length": 32,
        "windows": 4, "environments": 2, "validate_every": 1, "search_epochs": 1, "population": 4,
        "replays": 2, "batch": 1, "replay_length": 200,
        "estimates": "noisy:1",
    },
}  # fmt: skip
"""Settings that make an agent's training short."""

EVERY_METRIC = RewardWeights(wait=0.4, turnaround=0.3, bsld=0.2, utilisation=0.1)


def workload(name: str, part: Any, folder: Path) -> None:
    first, second, other = (synthesize(part, jobs=100, seed=seed).digest() for seed in (1, 1, 2))
    assert first == second != other


def trace_format(name: str, part: Any, folder: Path) -> None:
    path = SAMPLES[name](folder)
    testing.check_format(part, path)
    trace = read_trace(path)
    assert len(trace) > 0
    assert trace.digest() == read_trace(path, name).digest()  # no other recognises it first


def cluster_format(name: str, part: Any, folder: Path) -> None:
    for content in (b"", b"nothing of the kind\n"):
        path = folder / "cluster"
        path.write_bytes(content)
        assert not part.sniff(path, content)
        with pytest.raises(ClusterError):
            read_cluster(path, name)


def addition(name: str, part: Any, folder: Path) -> None:
    assert part.about
    for content in (b"", b"nothing of the kind\n", b"a|b|c\n1|2|3\n"):
        path = folder / "addition"
        path.write_bytes(content)
        assert not part.sniff(path, content)
        shape = Shape("site")
        if content:  # whatever is in it, only what is known is added
            part.read(path, shape)
        assert not shape.limits


def repair(name: str, part: Any, folder: Path) -> None:
    """A file without faults stays as it is."""
    path = SAMPLES["csv"](folder)
    assert read_trace(path, repair=[name]).digest() == read_trace(path).digest()


def engine(name: str, part: Any, folder: Path) -> None:
    if name == "ray":
        pytest.importorskip("ray")
    assert callable(part(None))


def start(name: str, part: Any, folder: Path) -> None:
    for selection in SELECTIONS.values():
        found = part(selection, 64.0, 2.0)
        assert found is None or found.skip.shape == (selection.width,)


def agent(name: str, part: Any, folder: Path) -> None:
    if name in ("rltune", "selector-allocator", "adlro"):
        pytest.importorskip("torch")
        pytest.importorskip("tensorboard")
    testing.check_agent(part, folder / "model", **SHORT[name])
    assert part.about
    with pytest.raises(ConfigError, match="--set"):
        part.parse_settings(["nothing=1"])
    assert callable(part.load(LocalPlayers))


def selection(name: str, part: Any, folder: Path) -> None:
    assert all(feature in EVERY_FEATURE for row in part.names() for feature in row)
    assert part.table().shape == (len(part.names()), part.width)


def backfill(name: str, part: Any, folder: Path) -> None:
    assert backfill_named(name) == part
    assert part.about
    testing.check_schedule(replay(ORDERINGS["saf"], PLACEMENTS["best-fit"], part))


def family(name: str, part: Any, folder: Path) -> None:
    assert part.start.shape == part.scale.shape
    check_replays(*part.policy(part.start, "untrained"))


def model(name: str, part: Any, folder: Path) -> None:
    assert part.__doc__
    with pytest.raises(ConfigError, match="spoilt"):
        part({}, "spoilt")


def renderer(name: str, part: Any, folder: Path) -> None:
    envs = QueuePriorityVector(1, pool=small_pool())
    envs.reset(seed=0)
    assert len(part(moment(envs.batch, 0))) > 0


def observation(name: str, part: Any, folder: Path) -> None:
    source = SyntheticWindows(cluster="8x8", jobs=1500, load=1.1, length=64)
    env = QueuePriority(QueuePriorityConfig(source, observation=part, pool=2))
    seen, _ = env.reset(seed=0)
    assert seen["jobs"].shape[1:] == (part.width,)
    assert env.observation_space.contains(seen)


def metric(name: str, part: Any, folder: Path) -> None:
    """Doing as the base policy does is worth nothing."""
    env = QueuePriority(pool=small_pool("fcfs", name))
    env.reset(seed=0)
    over, reward = False, 1.0
    while not over:
        _, reward, over, _, _ = env.step(np.int64(0))
    assert reward == 0.0


def measure(name: str, part: Any, folder: Path) -> None:
    found = summary(replay(ORDERINGS["saf"], PLACEMENTS["best-fit"], Backfill.EASY))
    assert name in found
    assert part.name == name
    assert part.unit
    assert part.about


def field_of_a_job(name: str, part: Any, folder: Path) -> None:
    assert part.name == name
    assert part.parquet
    assert part.about


def guardrail(name: str, part: Any, folder: Path) -> None:
    """It has words of its own for what it did, and says the same twice."""
    assert part.__doc__
    situation = situation_of(waiting(1), waiting(2, own=200), waiting(3, hours=30.0))
    decision = Decision((3, 1, 2))
    first, second = (part(decision, situation, GuardrailConfig()) for _ in range(2))
    assert first == second


def backend(name: str, part: Any, folder: Path) -> None:
    if name == "rest":
        pytest.skip("needs a token; tests/live/slurm asks a real slurmrestd")
    assert part(SlurmConfig()).name == name
    assert part.__doc__


def quantity(name: str, part: Any, folder: Path) -> None:
    assert part.unit
    assert part.about
    assert part.low < part.high


def source(name: str, part: Any, folder: Path) -> None:
    assert part.__doc__  # tests/telemetry reads from an exporter of its own


def assignment_heuristic(name: str, part: Any, folder: Path) -> None:
    """It plays an episode to its end, the same twice."""
    config = GpuAssignmentConfig()
    first, second = (play_pool(AssignmentPool(config, [7]), part(config)) for _ in range(2))
    assert first.completion_time[0] == second.completion_time[0] > 0


def assignment_network(name: str, part: Any, folder: Path) -> None:
    assert part.__doc__
    assert sum(weight.numel() for weight in part(GpuAssignmentConfig()).parameters()) > 0


def grouping(name: str, part: Any, folder: Path) -> None:
    """Every job is in one group that has a name, or in none."""
    jobs = crowded_trace().jobs
    found = part(jobs)
    assert len(found.codes) == len(jobs)
    assert found.codes.max() < len(found.values)


def prediction_summary(name: str, part: Any, folder: Path) -> None:
    jobs = crowded_trace().jobs
    found = part(predict(jobs))
    assert found.shape == (len(jobs),)
    assert np.all(np.isfinite(found) & (found > 0))


def environment(name: str, part: Any, folder: Path) -> None:
    arguments: dict[str, Any] = {"pool": small_pool()} if "QueuePriority" in name else {}
    if "GpuAssignment" in name:
        arguments = {"illegal_actions": "wait"}
    assert name in gymnasium.registry
    testing.check_environment(name, **arguments)


def multi_agent(name: str, part: Any, folder: Path) -> None:
    """PettingZoo's own tests and ours; what an episode is worth is what its metrics say."""
    pytest.importorskip("pettingzoo")
    module, pool = part.load(), small_pair_pool(weights=EVERY_METRIC)
    testing.check_multi_agent_environment(
        lambda: module.env(pool=pool),
        lambda: module.parallel_env(pool=pool),
        any_action=lambda: module.parallel_env(pool=pool, illegal_actions="wait"),
        worth=_saved,
    )


def _saved(told: dict[str, Any]) -> float:
    """What two agents earn: how far each metric is below the base pair's, weighed."""
    ours, base = (
        np.array([told[f"{whose}{metric}"] for metric in METRIC_NAMES]) for whose in ("", "base_")
    )
    return float(EVERY_METRIC.numbers() @ (1.0 - ours / np.maximum(base, 1.0)))


def named(name: str, part: Any) -> None:
    """A part that has a name has the one that it is found under."""
    if is_dataclass(part) and any(own.name == "name" for own in fields(part)):
        assert not isinstance(part, type)
        assert getattr(part, "name") == name  # noqa: B009
        assert replace(part) is not part


CHECKS: dict[str, Check] = {
    "ORDERINGS": lambda name, part, folder: testing.check_ordering(part),
    "PLACEMENTS": lambda name, part, folder: testing.check_placement(part),
    "PREDICTORS": lambda name, part, folder: testing.check_predictor(part),
    "FORMATS": trace_format,
    "CLUSTER_FORMATS": cluster_format,
    "ADDITIONS": addition,
    "WORKLOADS": workload,
    "REPAIRS": repair,
    "FIELDS": field_of_a_job,
    "ENGINES": engine,
    "STARTS": start,
    "AGENTS": agent,
    "SELECTIONS": selection,
    "BACKFILLS": backfill,
    "FAMILIES": family,
    "MODELS": model,
    "RENDERERS": renderer,
    "OBSERVATIONS": observation,
    "METRICS": metric,
    "MEASURES": measure,
    "GUARDRAILS": guardrail,
    "BACKENDS": backend,
    "ENVIRONMENTS": environment,
    "MULTI_AGENT": multi_agent,
    "QUANTITIES": quantity,
    "HEURISTICS": assignment_heuristic,
    "NETWORKS": assignment_network,
    "GROUPINGS": grouping,
    "SUMMARIES": prediction_summary,
    "SOURCES": source,
    **mig_parts.CHECKS,
}
