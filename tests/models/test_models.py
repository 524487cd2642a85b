"""A challenger is promoted only when it wins, a poisoned one never; there is a way back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.trace import Trace
from dovetail.models import Contest, ContestVerdict, ModelStore, NotPromoted, contest
from dovetail.models.background import BackgroundTraining, TrainingFailed, train_in_background
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint
from dovetail.policies.learned.families import FAMILIES
from dovetail.traces.loader import load_trace

CLUSTER = Cluster.parse("4x8")
WON = Contest(ContestVerdict.WON, "mean wait -20%")
LOST = Contest(ContestVerdict.NOT_BETTER, "mean wait +3%")


@pytest.fixture(scope="module")
def trace() -> Trace:
    """A month with a queue; ten per cent of it are held back."""
    return load_trace("synth:helios", jobs=6000, seed=1, load=0.95, cluster_gpus=32)


def save(folder: Path, spoil: float = 0.0) -> Path:
    """The index as it begins, or with its weights turned round."""
    vector = FAMILIES["index"].start.copy()
    vector[0] = vector[0] * (1.0 - spoil)
    save_checkpoint(folder, Checkpoint("index", {"weights": vector}, {"agent": "test"}))
    return folder


def clock() -> float:
    clock.now += 1.0  # type: ignore[attr-defined]
    return float(clock.now)  # type: ignore[attr-defined]


clock.now = 1_700_000_000.0  # type: ignore[attr-defined]


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models", now=clock)


def test_the_first_needs_no_contest_and_every_other_must_win(
    store: ModelStore, tmp_path: Path
) -> None:
    one, two = (store.add("index", save(tmp_path / str(n), spoil=n)) for n in (0, 1))
    store.promote("index", one, None)
    with pytest.raises(NotPromoted, match="a contest must be won first"):
        store.promote("index", two, None)
    with pytest.raises(NotPromoted, match="not better: mean wait"):
        store.promote("index", two, LOST)
    assert [each.champion for each in store.versions("index")] == [True, False]
    store.promote("index", two, WON)
    champion = store.champion("index")
    assert (champion / "policy.npz").read_bytes() == (
        store.folder("index", two) / "policy.npz"
    ).read_bytes()
    said = [event["did"] for event in store.log("index")]
    assert said == ["added", "added", "promoted", "refused", "promoted"]


def test_the_way_back_has_no_condition(store: ModelStore, tmp_path: Path) -> None:
    one, two = (store.add("index", save(tmp_path / str(n), spoil=n)) for n in (0, 1))
    store.promote("index", one, None)
    store.promote("index", two, WON)
    told: list[str] = []
    store = ModelStore(store.root, now=clock, announce=told.append)
    assert store.rollback("index", "waits rose") == one
    assert told == [f"index: rolled back to {one}: waits rose"]
    with pytest.raises(ConfigError, match="no earlier champion"):
        store.rollback("index", "again")


def test_names_and_folders_from_strangers_are_refused(store: ModelStore, tmp_path: Path) -> None:
    for name in ("../x", "", "a/b", "A", "." * 3):
        with pytest.raises(ConfigError):
            store.add(name, save(tmp_path / "model"))
    with pytest.raises(ConfigError, match="no version"):
        store.promote("index", "../../etc", WON)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError):
        store.add("index", tmp_path / "empty")


def test_a_better_order_wins_and_a_worse_one_does_not(trace: Trace) -> None:
    found = contest(trace, CLUSTER, "fcfs", "saf")
    assert found.verdict in (ContestVerdict.WON, ContestVerdict.BREAKS_PROMISE)
    assert found.wait is not None
    assert found.wait.high < 1.0
    assert contest(trace, CLUSTER, "saf", "fcfs").verdict is ContestVerdict.NOT_BETTER
    assert contest(trace, CLUSTER, "saf", "saf").verdict is ContestVerdict.NOT_BETTER


def test_impossible_run_times_in_the_days_held_back_decide_nothing(trace: Trace) -> None:
    """Whoever can write the history must not be able to choose the model."""
    run = trace.jobs.run.copy()
    late = np.arange(len(trace)) > 0.95 * len(trace)
    run[late & (np.arange(len(trace)) % 20 == 0)] = 300 * 86_400.0
    poisoned = replace(trace, jobs=replace(trace.jobs, run=run))
    found = contest(poisoned, CLUSTER, "fcfs", "saf")
    assert found.verdict is ContestVerdict.UNDECIDED
    assert "ran longer than can be" in found.reason


def test_a_model_from_a_poisoned_history_is_not_promoted(
    store: ModelStore, tmp_path: Path, trace: Trace
) -> None:
    """Its training taught it to start large jobs first; the replay shows what that does."""
    champion = store.add("index", save(tmp_path / "good"))
    store.promote("index", champion, None)
    bad = store.add("index", save(tmp_path / "bad", spoil=4.0))
    found = contest(trace, CLUSTER, store.champion("index"), store.folder("index", bad))
    with pytest.raises(NotPromoted):
        store.promote("index", bad, found)
    assert store.versions("index")[0].champion


def test_a_background_training_that_lacks_memory_or_time_fails_in_words(tmp_path: Path) -> None:
    task = BackgroundTraining("synth:helios", "4x8", str(tmp_path / "model"))
    with pytest.raises(TrainingFailed, match="the training failed"):
        train_in_background(replace(task, memory_gb=0.1, seconds=300.0))
    with pytest.raises(TrainingFailed, match="no model after"):
        train_in_background(replace(task, seconds=0.05))
