"""Learned repartitioning and joint control of sliced GPUs, on days that no training has seen.

python -m benchmarks.mig_repartition

ET = (a·energy + mean tardiness) / (a + 1), energy in W·min, tardiness in minutes; `a` is chosen on
the training days so that tardiness counts twice as much as energy under the best static cluster.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dovetail.mig.agents.control_config import ControlTraining
from dovetail.mig.agents.control_training import (
    evaluate,
    train_joint,
    train_placement_on_static,
    train_repartition,
)
from dovetail.mig.agents.published_control import PublishedTraining, train_published
from dovetail.mig.evaluation.bounds import mig_bounds
from dovetail.mig.evaluation.static_search import best_configurations
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.metrics import MINUTE
from dovetail.mig.policies.learned.control import STATIC_PLACER, MigPolicy, load_control
from dovetail.mig.workload.day import TIGHT, mig_day
from dovetail.mig.workload.jobs import MigWorkload

DAYS = range(10)
UNSEEN = range(500, 530)
"""The first ten days were looked at while the form of the control was chosen; these were not."""
SEARCHED = 8
"""Training days on which static configurations are compared."""

PUBLISHED_STATIC = "8xa100-40:1,1,2,3,3,5,5,10"
Rows = list[dict[str, float]]


def best_static(config: ControlTraining) -> dict[str, Any]:
    """The best configurations for categorical-edf that a local search finds."""
    days = config.learning_days()[:SEARCHED]
    found = best_configurations(days, MigCluster.parse(PUBLISHED_STATIC), STATIC_PLACER)
    numbers = sorted(found.cluster.configurations)
    return {"configurations": numbers, "tried": found.tried}


def table(name: str, rows: Rows, static: Rows, bounds: Sequence[float]) -> dict[str, Any]:
    """Means and deviations over the days, and against the static cluster day by day."""
    result: dict[str, Any] = {"control": name}
    for key in rows[0]:
        values = [row[key] for row in rows]
        result[key] = round(statistics.mean(values), 4)
        result[f"{key}_deviation"] = round(statistics.stdev(values), 4)
        change = statistics.mean(values) / statistics.mean(row[key] for row in static) - 1
        result[f"{key}_against_static"] = round(change, 4)
    pairs = [
        mine["energy_tardiness"] / theirs["energy_tardiness"] - 1
        for mine, theirs in zip(rows, static, strict=True)
    ]
    result["paired_et_change"] = round(statistics.mean(pairs), 4)
    result["paired_et_change_deviation"] = round(statistics.stdev(pairs), 4)
    result["days_better"] = sum(change < 0 for change in pairs)
    energy = sum(row["energy_watt_minutes"] for row in rows)
    result["energy_above_bound"] = round(energy / sum(bounds) - 1, 4)
    return result


def measure(slack: tuple[float, float], folder: Path) -> dict[str, Any]:
    """Search, train and compare under deadlines of this kind."""
    found = best_static(ControlTraining(slack=slack))
    numbers = ",".join(map(str, found["configurations"]))
    config = ControlTraining(cluster=f"8xa100-40:{numbers}", slack=slack)
    train_repartition(config, folder / "repartition")
    train_placement_on_static(config, folder / "placement")
    train_joint(config, folder / "joint", begin=folder / "repartition")
    train_published(PublishedTraining(config), folder / "published")
    return {
        "static": found,
        "mig_day": compare(config, folder, DAYS),
        "unseen_days": compare(config, folder, UNSEEN),
    }


def compare(config: ControlTraining, folder: Path, seeds: Sequence[int]) -> dict[str, Any]:
    """All controls that lie in a folder, on the days of these seeds."""
    days: list[MigWorkload] = [mig_day(seed, config.slack) for seed in seeds]
    cluster = MigCluster.parse(config.cluster)
    bounds = [mig_bounds(day, cluster).energy_joules / MINUTE for day in days]
    found = {path.parent.name: load_control(path.parent) for path in folder.glob("*/card.json")}
    weight = next(iter(found.values()))[1].card["energy_weight"]
    rows = partial(evaluate, cluster=config.cluster, days=days, weight=weight)
    static = rows(MigPolicy(STATIC_PLACER, None))
    tables = [table("static", static, static, bounds)]
    for name, (policy, checkpoint) in sorted(found.items()):
        tables.append(
            {
                **table(name, rows(policy), static, bounds),
                "training_cpu_seconds": checkpoint.card["cpu_seconds"],
            }
        )
    return {
        "days": len(days),
        "energy_weight": weight,
        "cluster": config.cluster,
        "controls": tables,
    }


def run() -> dict[str, Any]:
    # Tight deadlines, as published for control; with relaxed ones one cut is best all day.
    with tempfile.TemporaryDirectory() as folder:
        return measure(TIGHT, Path(folder))


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
