"""Learned policies on the unseen tenth of real traces: `make bench-rltune`.

Trains a policy by evolution on each trace, and RLTune's networks by PPO on one; then every base
with and without backfilling, the distance to the clairvoyant bound, the transfer between traces and
the ablation of the published system. Trainings by evolution lie in benchmarks/models/ and are not
repeated.

python -m benchmarks.run rltune
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np

from benchmarks.workloads import REAL, cluster, real_traces
from dovetail.agents.evolution.training import TrainingConfig, train
from dovetail.agents.history import Site
from dovetail.agents.rltune.config import RltuneConfig
from dovetail.agents.rltune.training import train_rltune
from dovetail.domain.schedule import Schedule
from dovetail.evaluation.run import Run
from dovetail.evaluation.standing import Standing, Unseen
from dovetail.evaluation.transfer import transfer
from dovetail.evaluation.unseen import draw_estimates, evaluate_unseen, first_unseen
from dovetail.evaluation.warm_windows import evaluate_windows
from dovetail.policies.ordering import ORDERINGS, SHIPPED_NAME
from dovetail.policies.policy import Policy

MODELS = Path(__file__).parent / "models"
BASES = ("fcfs", "sjf", "saf", "f1", "wfp3", "slurm-multifactor")
ESTIMATES, SEED, DRAWS = "noisy:1", 1, 5
EPOCHS = 12
"""Of evolution: about three minutes for each trace on two cores."""

ABLATED = "venus"
ABLATION = {
    # what: (features that the network sees, placement)
    "raw features, first-available": ("raw", "first-available"),
    "+ engineered features": ("all", "first-available"),
    "+ sampling to eight": ("sampled", "first-available"),
    "+ planned placement (multi-start)": ("sampled", "multistart"),
}
PPO = RltuneConfig(base="fcfs", metric="bsld", start="random", epochs=20, validate_every=2)


def run() -> dict[str, Any]:
    sites = {name: Site(trace, cluster(REAL[name][1])) for name, trace in real_traces().items()}
    if not sites:
        raise SystemExit("no real traces at hand: name their folder in DOVETAIL_TRACES")
    models = {name: _trained(name, site) for name, site in sites.items()}
    result: dict[str, Any] = {"estimates": ESTIMATES, "draws": DRAWS, "traces": {}}
    for name, site in sites.items():
        _say(f"{name}: every base on the unseen tenth")
        result["traces"][name] = _against_bases(site, models[name])
    _say("transfer")
    cells = transfer(models, sites, Policy("saf"), ESTIMATES, SEED, DRAWS)
    result["transfer"] = [asdict(cell) for cell in cells]
    if ABLATED in sites:
        result["ablation"] = {ABLATED: _ablation(sites[ABLATED])}
    return result


def _trained(name: str, site: Site) -> Path:
    folder = MODELS / name
    train(
        [site], folder, TrainingConfig(epochs=EPOCHS), workers=2,
        report=lambda progress: _say(f"{name}: {progress}"),
    )  # fmt: skip
    return folder


def _against_bases(site: Site, model: Path) -> dict[str, Any]:
    """The learned policies against every base, and against the best of all orderings."""
    learned = [Policy(SHIPPED_NAME), Policy(str(model))]
    bases = [Policy(name, fill) for name in BASES for fill in ("easy", "none")]
    others = [Policy(name) for name in ORDERINGS if name not in BASES]
    placed = [Policy("saf", placement="lifetime")]
    policies = [*learned, *bases, *others, *placed]
    draws = draw_estimates(site.trace, ESTIMATES, SEED, DRAWS)
    found = evaluate_unseen(site.trace, site.cluster, policies, draws)
    rows = [row_of(standing) for standing in found.rows]
    for row, policy in zip(rows, policies, strict=True):
        schedule = Run(site.trace, site.cluster, policy, draws[0]).replay()
        row["utilisation"] = utilisation(schedule, first_unseen(site.trace))
    rows[1]["policy"] = "learned on this trace alone"
    windows = evaluate_windows(
        site.trace, site.cluster, policies[: 2 + len(bases)], draws[:3], first_unseen(site.trace)
    )
    heuristics = rows[2 : len(rows) - len(placed)]
    return {
        "unseen_jobs": found.jobs,
        "bound": {"wait": found.bound.wait_mean, "bsld": found.bound.bsld_mean},
        "rows": rows,
        "best_heuristic": {
            measure: min(heuristics, key=lambda row: row[measure])["policy"]
            for measure in ("wait", "bsld")
        },
        "windows": [row_of(standing) for standing in windows.rows],
    }


def row_of(standing: Standing) -> dict[str, Any]:
    return {
        "policy": standing.label,
        "wait": standing.wait,
        "jct": standing.jct,
        "bsld": standing.bsld,
        "wait_over_bound": standing.wait_over_bound,
        # the first policy, the shipped one, as a ratio to this one
        "wait_ratio": asdict(standing.wait_ratio),
        "jct_ratio": asdict(standing.jct_ratio),
        "bsld_ratio": asdict(standing.bsld_ratio),
    }


def utilisation(schedule: Schedule, first: int) -> float:
    """Share of all GPU time in use while the unseen jobs arrive."""
    jobs = schedule.trace.jobs
    begin, end = jobs.submit[first], jobs.submit[-1]
    ran = schedule.ran
    overlap = np.minimum(schedule.end[ran], end) - np.maximum(schedule.start[ran], begin)
    busy = float(np.sum(jobs.gpus[ran] * np.maximum(0.0, overlap)))
    return busy / (schedule.cluster.total_gpus * float(end - begin))


def _ablation(site: Site) -> dict[str, Any]:
    """The published system step by step: PPO from random weights, then better placement."""
    result: dict[str, Any] = {"base": PPO.base, "metric": PPO.metric, "epochs": PPO.epochs}
    seconds: dict[str, int] = {}
    for features in dict.fromkeys(features for features, _ in ABLATION.values()):
        rmtree(MODELS / f"ppo-{features}", ignore_errors=True)  # its time is measured
        began = time.perf_counter()
        config = replace(PPO, features=features)
        train_rltune([site], MODELS / f"ppo-{features}", config, report=_say)
        seconds[features] = round(time.perf_counter() - began)
    policies = [
        Policy(str(MODELS / f"ppo-{features}"), placement=placement)
        for features, placement in ABLATION.values()
    ]
    reference = [Policy("fcfs"), Policy("saf")]
    draws = draw_estimates(site.trace, ESTIMATES, SEED, 2)
    found = evaluate_windows(
        site.trace, site.cluster, [*policies, *reference], draws, first_unseen(site.trace)
    )
    result["rows"] = _named(found, [*ABLATION, "fcfs", "saf"])
    result["seconds_of_training"] = seconds
    return result


def _named(found: Unseen, names: Sequence[str]) -> list[dict[str, Any]]:
    return [{**row_of(row), "policy": name} for row, name in zip(found.rows, names, strict=True)]


def _say(text: object) -> None:
    print(text, file=sys.stderr, flush=True)
