"""What examples in docstrings speak of without making it: a trace, a cluster, a day, a folder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import polars as pl

import dovetail.envs
from dovetail.agents.choice.candidates import PolicyCandidate, reference
from dovetail.agents.evolution.search import Evolution
from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill, Ordering
from dovetail.domain.problem import ChunkDemand, JobAsk, JobShape, Releases
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
from dovetail.simulator.engine import Simulation
from dovetail.telemetry import IdleWatch, check, open_source
from dovetail.testing.schedules import replay
from dovetail.traces.reader import read_trace
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.traces.samples import SAMPLES

EIGHT = "8xa100-40:1,1,2,2,3,3,12,12"
LEFT_OUT = {
    "simulator.kernel.steps": "a part of a kernel; the environments' kernels are the whole of it",
    "telemetry.sources.nvml": "needs an NVIDIA driver",
    "telemetry.sources.prometheus": "needs a Prometheus; tests/telemetry starts one where it can",
}
"""Modules whose examples cannot run here, and why."""

PAGE = (
    'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="n1"} 50\n'
    'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1",Hostname="n1"} 40\n'
)
"""What an exporter on a node says."""


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
    "policies.optimiser": {
        "free": np.array([[4, 4000, 10], [8, 8000, 20]]), "kind": np.zeros(2, np.int64),
        "switch": np.zeros(2, np.int64), "releases": Releases.none(), "now": 0.0,
        "jobs": [JobAsk((JobShape(1, ChunkDemand(2, 1000, 1)),), 100.0, 100)],
        "start": lambda *placed: None,
    },
    "simulator.warm": {"Simulation": Simulation, "make_estimates": make_estimates},
    "compiled.native": {"NamedTuple": NamedTuple},
    "telemetry.sources.recording": {"watch": IdleWatch(), "check": check},
    "telemetry.monitor": {
        "snapshot": SimpleNamespace(running=()), "open_source": open_source,
    },
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
    (folder / "cluster_gpu_util.csv").write_text("time,host,gpu,utilisation\n0,n1,0,0.5\n")
    (folder / "jobs.csv").write_text("Submitted,Elapsed,GPUs\n0,10,1\n5,20,2\n")
    (folder / "cluster.toml").write_text(
        '[[nodes]]\ncount = 2\ngpus = 2\ntype = "a100-40"\nmig = [1, 12]\n'
    )
    weights = {"weights": FAMILIES["index"].start}
    save_checkpoint(folder, Checkpoint("index", weights, {"config": {"seed": 3}}))


def names_for(module: str, folder: Path) -> dict[str, Any]:
    """All that an example of this module may use besides the module's own names."""
    table = BytesIO()
    pl.DataFrame({"submit_time": [0]}).write_parquet(table)
    found = {
        **shared(),
        "data": table.getvalue(),
        "cluster": Cluster.parse("8x8"),
        "folder": folder,
        "path": folder / "file",
    }
    if module.startswith("dovetail.mig"):
        found |= of_slices()
    return {**found, **OWN.get(module.removeprefix("dovetail."), {})}
