"""One frozen object holds all that a replay depends on, and its result says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dovetail
from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import SlurmBackfill
from dovetail.domain.trace import Trace
from dovetail.evaluation.run import Run, simulate
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.policy import Policy
from dovetail.prediction.estimates import make_estimates
from dovetail.traces.loader import load_trace

TRACE = load_trace("synth:helios", jobs=300, seed=3, load=1.1, cluster_gpus=32)
CLUSTER = Cluster.parse("4x8")


def test_the_library_s_simulate_is_a_run() -> None:
    run = Run.of(TRACE, CLUSTER, "saf+none@fgd", "noisy:1", seed=5)
    ours, theirs = (
        run.replay(),
        dovetail.simulate(TRACE, "4x8", "saf+none@fgd", None, None, "noisy:1", 5),
    )
    assert np.array_equal(ours.start, theirs.start)
    assert ours.config == {**theirs.config, "cluster": CLUSTER.name}


def test_a_result_says_all_that_it_depends_on() -> None:
    config = Run.of(TRACE, CLUSTER, "saf+none@fgd", "noisy:1", seed=5).replay().config
    assert config["version"] == dovetail.__version__
    assert (config["seed"], config["estimates"]) == (5, "noisy:1")
    assert (config["order"], config["backfill"], config["placement"]) == ("saf", "none", "fgd")
    assert config["trace_digest"] == TRACE.digest()
    assert config["cluster_digest"] == CLUSTER.digest()


def test_estimates_that_somebody_else_made_have_no_seed_of_ours() -> None:
    told = make_estimates(TRACE, "noisy:1", 7)
    assert "seed" not in Run(TRACE, CLUSTER, Policy("saf"), told).replay().config


def test_parts_given_apart_take_the_place_of_the_policys_own() -> None:
    rule = SlurmBackfill(interval=60, max_job_test=1_000_000)
    found = simulate(TRACE, CLUSTER, "saf+none@worst-fit", PLACEMENTS["fgd"], rule, "exact")
    assert (found.config["placement"], found.config["backfill"]) == ("fgd", rule.value)
    by_name = simulate(TRACE, CLUSTER, "saf@fgd", backfill="slurm:interval=60", estimates="exact")
    assert np.array_equal(found.start, by_name.start)


def test_a_trace_and_a_cluster_are_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[Trace] = []
    work_out = Trace._hash

    def counted(trace: Trace) -> str:
        hashed.append(trace)
        return work_out(trace)

    monkeypatch.setattr(Trace, "_hash", counted)
    trace = TRACE.slice(0, 100)
    for order in ("fcfs", "saf", "sjf"):
        assert Run.of(trace, CLUSTER, order, "exact").replay().config["trace_digest"]
    assert len(hashed) == 1
    assert trace.slice(0, 50).digest() != trace.digest()
    assert replace(trace, name="other").digest() == trace.digest()
