"""What examples in docstrings speak of without making it: a trace, a cluster, a day, a folder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import dovetail.envs
from dovetail.agents.choice.candidates import PolicyCandidate, reference
from dovetail.agents.evolution.search import Evolution
from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill, Ordering
from dovetail.mig.evaluation.comparison import compare_mig
from dovetail.mig.evaluation.contenders import Contender, cross
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.mean_field import MeanField, steering
from dovetail.mig.policies import PLACERS
from dovetail.mig.policies.controllers import TOLD
from dovetail.mig.policies.learned.control import CONTROLS
from dovetail.mig.simulator import MigRules, simulate_mig
from dovetail.mig.simulator.day_runner import DayRunner
from dovetail.mig.workload.day import TIGHT, mig_day
from dovetail.mig.workload.file import write_mig_workload
from dovetail.mig.workload.seeds import EvaluationDays, TrainingDays
from dovetail.policies.learned.checkpoint import Checkpoint, save_checkpoint
from dovetail.policies.learned.families import FAMILIES
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction.estimates import make_estimates
from dovetail.testing.schedules import replay
from dovetail.traces.read import read_trace
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.traces.samples import SAMPLES

EIGHT = "8xa100-40:1,1,2,2,3,3,12,12"
TRAININGS = (
    "agents.training",
    "agents.choice.choose",
    "agents.ppo.learner",
    "agents.rltune.training",
    "mig.agents.catalogue",
    "mig.agents.control_training",
    "mig.agents.placement_training",
    "mig.agents.published_control",
    "mig.agents.slot_network",
    "mig.agents.slot_training",
    "mig.evaluation.unseen",
    "models",
)
"""Examples that learn for minutes: tests of these modules make the same calls for a few seconds."""

FRAGMENTS = (
    "compiled.native",
    "compiled.tables",
    "agents.ppo.ragged",
    "simulator.kernel.steps",
    "simulator.warm",
    "traces.parquet_trial",
    "policies.optimiser",
)
"""Examples with `...` for what a kernel is given; tests of these modules run the whole of it."""


SOURCES_OF_READINGS = (
    "telemetry",
    "telemetry.monitor",
    "telemetry.sources.exporter",
    "telemetry.sources.nvml",
    "telemetry.sources.prometheus",
)
"""Examples that ask a GPU or another host; tests/telemetry asks an exporter of its own."""


@cache
def shared() -> Mapping[str, Any]:
    """What is the same for all modules."""
    trace = synthesize(WORKLOADS["helios"], jobs=200, seed=0, load=1.0, cluster_gpus=64)
    return {
        "np": np,
        "math": math,
        "Path": Path,
        "gymnasium": gymnasium,
        "dovetail": dovetail,
        "Backfill": Backfill,
        "trace": trace,
        "order": ORDERINGS["saf"],
        "ordering": ORDERINGS["saf"],
        "place": PLACEMENTS["best-fit"],
        "placement": PLACEMENTS["best-fit"],
        "estimates": make_estimates(trace, "noisy:1"),
        "schedule": replay(ORDERINGS["saf"], PLACEMENTS["best-fit"], Backfill.EASY),
        "text": "some text",
        "seed": 0,
    }


@cache
def of_slices() -> Mapping[str, Any]:
    """What examples about sliced GPUs speak of; an hour stands for a day."""
    days = [mig_day(seed=seed, hours=1.0) for seed in range(2)]
    cluster, control = MigCluster.parse(EIGHT), CONTROLS["joint"]
    contenders = cross(["eft", "categorical-edf"], [EIGHT])
    return {
        "day": days[0],
        "days": days,
        "cluster": cluster,
        "PLACERS": PLACERS,
        "placer": PLACERS["eft"],
        "field": control.policy(control.start, "untrained", 5, 3).field,
        "simulate_mig": simulate_mig,
        "schedule": simulate_mig(days[0], cluster, PLACERS["eft"]),
        "mig_day": mig_day,
        "MigRules": MigRules,
        "MigCluster": MigCluster,
        "MeanField": MeanField,
        "DayRunner": DayRunner,
        "EvaluationDays": EvaluationDays,
        "TrainingDays": TrainingDays,
        "contenders": contenders,
        "compare_mig": compare_mig,
        "parts": Contender("eft", EIGHT).parts(),
        "edges": np.linspace(0.0, 3600.0, 5),
    }


OWN: dict[str, dict[str, Any]] = {
    "agents.replays": {
        "contestant": PolicyCandidate("sjf", "exact", "best-fit"), "rival": reference("exact"),
    },
    "agents.evolution.search": {"start": np.zeros(3), "loss": lambda c: float((c**2).sum())},
    "agents.evolution.search_file": {"search": Evolution(np.zeros(3), 0.1, 8, 0), "facts": {}},
    "domain.arguments": {"order": "saf", "Ordering": Ordering},
    "mig.envs.repartition": {"logits": np.zeros((64, 14, 14))},
    "mig.evaluation.comparison": {"cross": cross},
    "mig.mean_field": {"stay": steering(lambda p, seen, out: None)},
    "mig.policies.controllers": {
        "weights": np.zeros((14, 1 + len(TOLD))),
        "w1": np.zeros((30, 8)), "b1": np.zeros(8), "w2": np.zeros((8, 196)), "b2": np.zeros(196),
    },
    "mig.policy": {"rank": PLACERS["eft"].rank},
    "mig.simulator.tables": {"i": 0},
    "mig.workload.source": {"TIGHT": TIGHT},
    "traces.formats.csv": {"read_trace": read_trace},
}  # fmt: skip
"""Names of one module's examples."""


def write_files(folder: Path) -> None:
    """The files that examples read, under the names that they use."""
    SAMPLES["openb"](folder)
    (folder / "openb.csv").write_bytes((folder / "openb_pod_list_default.csv").read_bytes())
    write_mig_workload(mig_day(seed=0, hours=1.0), folder / "day.csv")
    (folder / "jobs.csv").write_text("Submitted,Elapsed,GPUs\n0,10,1\n5,20,2\n")
    (folder / "cluster.toml").write_text(
        '[[nodes]]\ncount = 2\ngpus = 2\ntype = "a100-40"\nmig = [1, 12]\n'
    )
    weights = {"weights": FAMILIES["index"].start}
    save_checkpoint(folder, Checkpoint("index", weights, {"config": {"seed": 3}}))


def names_for(module: str, folder: Path) -> dict[str, Any]:
    """All that an example of this module may use besides the module's own names."""
    found = {**shared(), "cluster": Cluster.parse("8x8"), "folder": folder, "path": folder / "file"}
    if module.startswith("dovetail.mig"):
        found |= of_slices()
    return {**found, **OWN.get(module.removeprefix("dovetail."), {})}
