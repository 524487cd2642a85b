"""What choosing and learning add on the unseen tenth of real traces: `make bench-rltune`.

For each trace the steps of a training apart: the hand-set index, the choice, evolution from it,
PPO as published and PPO with a dense reward, each with the gate's verdict. All are measured on the
last tenth beside the heuristics, under predicted run times and the users' limits. What is finished
lies in benchmarks/models/ and is not repeated.

python -m benchmarks.run rltune            # all; several hours
python -m benchmarks.rltune kth choice     # one trace, some arms
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.workloads import folder
from dovetail.agents.catalogue import ChoiceConfig
from dovetail.agents.choice.cells import SiteHistory
from dovetail.agents.evolution.training import TrainingConfig
from dovetail.agents.evolution.training import learn as evolve
from dovetail.agents.history import Site, divide
from dovetail.agents.rltune.config import RltuneConfig
from dovetail.agents.training import LEARNING, train
from dovetail.domain.cluster import Cluster
from dovetail.evaluation.standing import Standing
from dovetail.evaluation.unseen import Draws, evaluate_unseen, who_pays
from dovetail.policies.learned.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from dovetail.policies.learned.families import FAMILIES
from dovetail.policies.ordering import SHIPPED_NAME
from dovetail.policies.policy import Policy
from dovetail.traces.read import read_trace

MODELS = Path(__file__).parent / "models"
HEURISTICS = ("saf", "sjf", "f1", "qssf", "slurm-multifactor", "fcfs")
SEEDS = 5


@dataclass(frozen=True, slots=True)
class Workload:
    file: str
    cluster: str


WORKLOADS = {
    "kth": Workload("pwa_kth_sp2_1996", "100x1"),
    "pai": Workload("pai2020_sample", "80x8"),
    "venus": Workload("helios_venus", "80x8"),
    "philly": Workload("philly_full", "220x8"),
    "lanl": Workload("pwa_lanl_cm5_1994", "128x8"),
    "ricc": Workload("pwa_ricc_2010", "1024x8"),
}
ARMS = ("choice", "evolution", "ppo", "dense")


def run(
    traces: Iterable[str] = WORKLOADS, arms: Iterable[str] = ARMS, seeds: int = SEEDS
) -> dict[str, Any]:
    for name in traces:
        measure_trace(name, tuple(arms), seeds)
    found = {name: MODELS / name / "result.json" for name in WORKLOADS}
    return {
        "traces": {
            name: json.loads(path.read_text(encoding="utf-8"))
            for name, path in found.items()
            if path.exists()
        }
    }


def open_site(name: str) -> Site:
    workload = WORKLOADS[name]
    trace = read_trace(folder() / f"{workload.file}.parquet", repair=("all",))
    return Site(trace, Cluster.parse(workload.cluster))


def measure_trace(name: str, arms: tuple[str, ...], seeds: int) -> None:
    """Train what is missing, then measure everything on the last tenth."""
    site = open_site(name)
    draws = Draws(site.trace, "predicted", 0, 1)
    history = known_part(site, draws)
    trained = {f"{arm}-{seed}": _train(name, arm, seed, site, history)
               for arm in arms for seed in range(1 if arm == "choice" else seeds)}  # fmt: skip
    policies = {"hand-set index": Policy(str(_hand_set(name)))}
    for arm, path in trained.items():
        policies[arm] = Policy(str(path / LEARNING if (path / LEARNING).exists() else path))
    policies |= {"shipped": Policy(SHIPPED_NAME)} | {n: Policy(n) for n in HEURISTICS}
    result: dict[str, Any] = {"cluster": site.cluster.name, "gate": {}, "knowledge": {}}
    for arm, path in trained.items():
        card = load_checkpoint(path).card
        result["gate"][arm] = card.get("gate")
        result["choice"] = card["choice"]
    kinds = [draws] if np.isnan(site.trace.jobs.limit).any() else [
        draws, Draws(site.trace, "limit", 0, 1)
    ]  # fmt: skip
    for told in kinds:
        _say(f"{name}: {told.spec}")
        ordered = [policies["choice-0"], *(p for n, p in policies.items() if n != "choice-0")]
        labels = ["choice-0", *(n for n in policies if n != "choice-0")]
        found = evaluate_unseen(site.trace, site.cluster, ordered, told)
        rows = [{**row_of(row), "policy": label}
                for label, row in zip(labels, found.rows, strict=True)]  # fmt: skip
        result["knowledge"][told.spec] = {"unseen_jobs": found.jobs, "rows": rows}
        _write(name, result)
    groups = who_pays(site.trace, site.cluster, policies["choice-0"], draws)
    result["who_pays"] = [asdict(group) for group in groups if group.grouping != "user"]
    _write(name, result)


def known_part(site: Site, draws: Draws) -> SiteHistory:
    """As training opens it; a prediction knows the past only, so that of all jobs serves."""
    parts = divide(site.trace, 1)
    known = site.trace.slice(0, parts.known)
    forecast = draws.knowledge.forecast("mixture").take(slice(0, parts.known))
    return SiteHistory(site, known, forecast, len(parts.learning))


def _train(name: str, arm: str, seed: int, site: Site, history: SiteHistory) -> Path:
    path = MODELS / name / f"{arm}-{seed}"
    began = time.perf_counter()
    learner: Any
    config: Any
    if arm == "choice":
        learner, config = None, ChoiceConfig(seed=seed)
    elif arm == "evolution":
        learner, config = evolve, TrainingConfig(seed=seed)
    else:
        from dovetail.agents.rltune.training import learn

        more = {"metric": "wait", "dense": 1.0} if arm == "dense" else {"start": "random"}
        learner, config = learn, RltuneConfig(epochs=20, validate_every=2, seed=seed, **more)
    train(arm, learner, [site], path, config, partial(_tell, name), workers=1, histories=[history])
    _say(f"{name}, {arm} {seed}: {time.perf_counter() - began:.0f} s")
    return path


def _hand_set(name: str) -> Path:
    """The index as it was set by hand, told what is usual."""
    path, family = MODELS / name / "hand-set", FAMILIES["index"]
    save_checkpoint(path, Checkpoint("index", {"weights": family.start}, {"agent": "hand-set"}))
    return path


def row_of(standing: Standing) -> dict[str, Any]:
    return {
        "policy": standing.label,
        "wait": standing.wait,
        "jct": standing.jct,
        "bsld": standing.bsld,
        "wait_over_bound": standing.wait_over_bound,
        # the first policy as a ratio to this one
        "wait_ratio": asdict(standing.wait_ratio),
        "jct_ratio": asdict(standing.jct_ratio),
        "bsld_ratio": asdict(standing.bsld_ratio),
    }


def _write(name: str, result: dict[str, Any]) -> None:
    (MODELS / name / "result.json").write_text(json.dumps(result, indent=1), encoding="utf-8")


def _tell(name: str, progress: object) -> None:
    _say(f"{name}: {progress}")


def _say(text: object) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    run(sys.argv[1].split(","), sys.argv[2].split(","), seeds=1)
