"""ADLRO in the simulator: the same network as in the environment, gangs left to the order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dovetail.agents.adlro.evaluation import play_pool
from dovetail.agents.adlro.heuristics import HEURISTICS
from dovetail.domain.cluster import Cluster, Node
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import JobColumns
from dovetail.domain.trace import Trace
from dovetail.envs.gpu_assignment import AssignmentPool, GpuAssignmentConfig
from dovetail.evaluation.run import simulate
from dovetail.models import ModelStore, contest
from dovetail.models.contest import time_lost
from dovetail.policies.learned.assigner import assigner_from
from dovetail.policies.learned.assignment_network import SHAPES
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint

TASK = GpuAssignmentConfig(
    gpus={"volta": 2, "turing": 1, "radeon": 1}, jobs=60, shown=32, noise=0.0, run=60.0
)
MIXED = Cluster(
    (Node("fast", 4, "volta"), Node("slow", 4, "turing")),
    kind_speed={"learning": {"volta": 1.0, "turing": 0.2}},
)


def index_model(folder: Path) -> Path:
    """A checkpoint whose network adds nothing: the index."""
    arrays = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
    save_checkpoint(folder, Checkpoint("adlro", {**arrays, "scale": np.array(60.0)}, {}))
    return folder


def jobs_of(gpus: list[int], submit: list[float], run: float = 60.0) -> Trace:
    return Trace(
        JobColumns(
            submit=np.array(submit), run=np.full(len(gpus), run), gpus=np.array(gpus),
            kind=["learning"] * len(gpus),
        ).build(),
        name="few",
    )  # fmt: skip


def test_the_simulator_starts_jobs_when_and_where_the_environment_does(tmp_path: Path) -> None:
    model = index_model(tmp_path / "model")
    played = play_pool(AssignmentPool(TASK, range(3)), HEURISTICS["index"](TASK))
    for seed in range(3):
        drawn = TASK.draw(np.random.default_rng(seed))
        ran = simulate(
            drawn.trace, TASK.cluster(), model, estimates=Estimates("told", drawn.estimates)
        )
        spent = float(np.mean(ran.end - drawn.trace.jobs.submit))
        assert spent == pytest.approx(float(played.completion_time[seed]), rel=1e-9)


def test_a_job_waits_for_a_gpu_on_which_it_ends_sooner(tmp_path: Path) -> None:
    model = index_model(tmp_path / "model")
    trace = jobs_of([1] * 5, [0.0, 0.0, 0.0, 0.0, 50.0])
    for backfill in ("easy", "none", "slurm"):
        ran = simulate(trace, MIXED, model, backfill=backfill)
        assert ran.start[4] >= 60.0, backfill  # four slow GPUs were free all the time
        assert ran.end[4] <= 180.0, backfill
    promised = simulate(trace, MIXED, model, backfill="conservative")
    assert promised.start[4] == 50.0  # a promise is kept, be it on a slow GPU


def test_a_job_with_nothing_running_never_waits_for_ever(tmp_path: Path) -> None:
    only_slow = Cluster((Node("slow", 1, "turing"),), kind_speed={"learning": {"turing": 0.2}})
    ran = simulate(jobs_of([1, 1], [0.0, 0.0]), only_slow, index_model(tmp_path / "model"))
    assert ran.ran.all()


@pytest.mark.parametrize("backfill", ["easy", "none", "slurm", "conservative"])
def test_gangs_go_in_order_and_start_whole(backfill: str, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    gpus = random.choice([1, 1, 1, 2, 4, 8], 80)
    trace = jobs_of(gpus.tolist(), np.sort(random.random(80) * 2000.0).tolist())
    with_gangs = replace(MIXED, nodes=(*MIXED.nodes, Node("fast-2", 4, "volta")))
    ran = simulate(trace, with_gangs, index_model(tmp_path / "model"), backfill=backfill)
    assert ran.ran.all()


def test_time_lost_counts_what_a_slow_gpu_costs() -> None:
    trace = jobs_of([1] * 5, [0.0] * 5)
    ran = simulate(trace, MIXED, "fcfs")
    assert sorted(time_lost(ran, MIXED).round(6).tolist()) == [0.0, 0.0, 0.0, 0.0, 240.0]


def test_the_store_takes_it_and_a_contest_judges_it(tmp_path: Path) -> None:
    store = ModelStore(tmp_path / "models")
    version = store.add("mixed", index_model(tmp_path / "model"))
    store.promote("mixed", version, None)
    random = np.random.default_rng(0)
    submit = np.sort(random.random(1200)) * 60 * 86_400.0
    trace = jobs_of([1] * 1200, submit.tolist(), run=4.0 * 3600.0)
    found = contest(trace, MIXED, "fcfs", store.champion("mixed"))
    assert found.wait is not None
    assert found.wait.high < 1.0


def test_damaged_weights_are_refused_in_words() -> None:
    good = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
    good["scale"] = np.array(60.0)
    assert assigner_from(good, "good").scale == 60.0
    for part, bad in (
        ("scale", np.array(-1.0)), ("scale", np.array("a")), ("last", np.zeros(3)),
        ("first", np.full(SHAPES["first"], np.nan)),
    ):  # fmt: skip
        with pytest.raises(ConfigError):
            assigner_from({**good, part: bad}, "bad")
