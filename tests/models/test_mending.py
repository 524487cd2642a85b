"""A shifted workload is noticed, a challenger is trained on it, and serves only if it is better."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dovetail.domain.cluster import Cluster
from dovetail.domain.trace import Trace
from dovetail.evaluation.run import simulate
from dovetail.evaluation.unseen import first_unseen
from dovetail.models import ContestVerdict, ModelStore, NotPromoted, contest
from dovetail.models.background import BackgroundTraining, train_in_background
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint
from dovetail.policies.learned.families import FAMILIES
from dovetail.telemetry.drift import DriftReference, DriftVerdict, workload_columns
from dovetail.traces.loader import load_trace
from dovetail.traces.writer import write_trace

SITE = "4x8"
CLUSTER = Cluster.parse(SITE)


def month(seed: int) -> Trace:
    return load_trace("synth:helios", jobs=2500, seed=seed, load=0.95, cluster_gpus=32)


def shifted(trace: Trace) -> Trace:
    """The same arrivals, but jobs are half as wide and run twice as long."""
    jobs = trace.jobs
    gpus = np.maximum(jobs.gpus // 2, 1)
    run = jobs.run * jobs.gpus / gpus
    return replace(trace, jobs=replace(jobs, gpus=gpus, run=run, limit=2.0 * run + 60.0))


def poisoned(trace: Trace) -> Trace:
    """One job in twenty of the part that is learned from is said to have run a thousand times as
    long; the days that judge are as they were."""
    jobs = trace.jobs
    rows = np.arange(len(trace))
    struck = (rows < first_unseen(trace)) & (rows % 20 == 0)
    run = np.where(struck, 1000.0 * jobs.run, jobs.run)
    return replace(trace, jobs=replace(jobs, run=run, limit=np.maximum(jobs.limit, run)))


def weights(folder: Path, spoil: float = 0.0) -> Path:
    vector = FAMILIES["index"].start.copy()
    vector[0] *= 1.0 - spoil
    save_checkpoint(folder, Checkpoint("index", {"weights": vector}, {"agent": "test"}))
    return folder


def challenge(store: ModelStore, recent: Trace, judged: Trace, folder: Path) -> ContestVerdict:
    """Train on a recent history in the background, and let the challenger meet the champion."""
    path = folder / "recent.parquet"
    write_trace(recent, path)
    task = BackgroundTraining(
        str(path), SITE, str(folder / "model"), agent="choice", settings={"estimates": "limit"}
    )
    version = store.add("index", train_in_background(task))
    found = contest(judged, CLUSTER, store.champion("index"), store.folder("index", version))
    try:
        store.promote("index", version, found)
    except NotPromoted:
        assert found.verdict is not ContestVerdict.WON
    return found.verdict


def wait_held_back(trace: Trace, model: Path) -> float:
    ran = simulate(trace, CLUSTER, model)
    return float(ran.wait[first_unseen(trace) :].mean())


def test_a_shift_is_noticed_and_a_better_challenger_takes_over(tmp_path: Path) -> None:
    seen = DriftReference.of(workload_columns(month(1).jobs))
    assert seen.compare(workload_columns(month(2).jobs)).verdict is not DriftVerdict.DRIFTED
    recent = shifted(month(8))  # in other months a week is too short to tell
    assert seen.compare(workload_columns(recent.jobs)).verdict is DriftVerdict.DRIFTED
    store = ModelStore(tmp_path / "models")
    # What serves was fit for other jobs: it starts large ones first.
    store.promote("index", store.add("index", weights(tmp_path / "old", spoil=4.0)), None)
    before = wait_held_back(recent, store.champion("index"))
    assert challenge(store, recent, recent, tmp_path) is ContestVerdict.WON
    assert wait_held_back(recent, store.champion("index")) < 0.9 * before


@pytest.mark.parametrize("seed", [4, 5])
def test_what_was_trained_on_a_poisoned_history_never_makes_waits_longer(
    seed: int, tmp_path: Path
) -> None:
    clean = month(seed)
    store = ModelStore(tmp_path / "models")
    store.promote("index", store.add("index", weights(tmp_path / "good")), None)
    before = wait_held_back(clean, store.champion("index"))
    challenge(store, poisoned(clean), clean, tmp_path)
    assert wait_held_back(clean, store.champion("index")) <= before
