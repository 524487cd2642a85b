"""Learned placements on slices: trained anew, then ten days that no training has seen.

python -m benchmarks.run mig
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dovetail.mig.agents.placement_config import MIG_DAY, PlacementTraining
from dovetail.mig.agents.placement_training import evaluate_placement, train_placement
from dovetail.mig.agents.slot_network import evaluate_slots
from dovetail.mig.agents.slot_training import METHODS, SlotTraining, train_slots
from dovetail.mig.policies.learned.placement import SHIPPED_NAME, WAITING_RULES, placer_named
from dovetail.mig.policy import Placer
from dovetail.mig.workload.day import TIGHT
from dovetail.mig.workload.seeds import EvaluationDays

DAYS = EvaluationDays(0, 10)
UNSEEN = EvaluationDays(500, 30)
"""The first ten days were looked at while the terms of the prices were chosen; these were not."""

PUBLISHED = ("eft", "largest-first", "smallest-first", "random")
OTHERS = ("edf-most-packed", "marginal-et", "categorical-edf", "prices", "known-prices")
SLOT_STEPS = 100_000
"""Of the published learners; their authors use five times as many."""

ELSEWHERE = {
    "4 GPUs": "4xa100-40-rounded:1,2,3,12",
    "16 GPUs": "16xa100-40-rounded:1,1,1,1,2,2,2,2,3,3,3,3,12,12,12,12",
    "best static": "8xa100-40-rounded:1,1,2,3,3,5,5,10",
    "4g and 3g only": "8xa100-40-rounded:2",
    "small slices only": "8xa100-40-rounded:12",
    "A100 and A30": "4xa100-40:1,2,3,12 + 4xa30-24:1,2,3,5",
}
"""Clusters that the prices were not trained on."""

Rows = list[dict[str, Any]]


def means(rows: Rows, reference: str = "eft") -> list[dict[str, Any]]:
    """A row per placement; `late_against_reference` is the mean of paired differences."""
    base = {row["seed"]: row["late_share"] for row in rows if row["placer"] == reference}
    return [
        _mean([row for row in rows if row["placer"] == name], base)
        for name in dict.fromkeys(row["placer"] for row in rows)
    ]


def _mean(rows: Rows, base: dict[int, float]) -> dict[str, Any]:
    found: dict[str, Any] = {"placer": rows[0]["placer"]}
    for name, digits in (("late_share", 4), ("tardiness", 3), ("energy", 0)):
        values = [row[name] for row in rows]
        found[name] = round(statistics.mean(values), digits)
        found[f"{name}_deviation"] = round(statistics.stdev(values), digits)
    if base:
        differences = [row["late_share"] - base[row["seed"]] for row in rows]
        found["late_against_reference"] = round(statistics.mean(differences), 4)
        found["late_against_reference_deviation"] = round(statistics.stdev(differences), 4)
        found["days_better"] = sum(difference < 0 for difference in differences)
    return found


def training_of(rule: str) -> PlacementTraining:
    """Only prices that know of uncertainty are learned under it."""
    if rule == "unsure":
        return PlacementTraining(waiting_rule=rule)
    return PlacementTraining(waiting_rule=rule, estimates="exact")


def trained(folder: Path) -> tuple[list[Placer], dict[str, Any]]:
    """Placements of every rule, and what their training took."""
    placers, costs = [], {}
    for rule in WAITING_RULES:
        began, cpu = time.perf_counter(), time.process_time()
        train_placement(training_of(rule), folder / rule)
        costs[rule] = {
            "seconds": round(time.perf_counter() - began, 1),
            "cpu_seconds": round(time.process_time() - cpu, 1),
        }
        found = placer_named(str(folder / rule))
        placers.append(Placer(rule, found.rank, found.parameters, passes=found.passes))
    return placers, costs


def slots(steps: int) -> tuple[Rows, dict[str, Any]]:
    """The published learners, with as many steps and the same seed."""
    networks, costs = {}, {}
    for method in METHODS:
        cpu = time.process_time()
        networks[method], seconds = train_slots(method, SlotTraining(steps=steps))
        costs[method] = {
            "seconds": round(seconds, 1),
            "cpu_seconds": round(time.process_time() - cpu, 1),
        }
    return evaluate_slots(networks, MIG_DAY, DAYS), costs


def elsewhere(placers: Sequence[Placer]) -> dict[str, Any]:
    """The same prices on other clusters, with as much load per compute slice."""
    given: list[str | Placer] = [
        "eft", "smallest-first", "edf-most-packed", *placers, SHIPPED_NAME,
    ]  # fmt: skip
    return {
        name: means(evaluate_placement(given, DAYS, cluster)) for name, cluster in ELSEWHERE.items()
    }


def run(placers: Sequence[Placer], slot_steps: int = SLOT_STEPS) -> dict[str, Any]:
    given: list[str | Placer] = [*PUBLISHED, *OTHERS, *placers, SHIPPED_NAME]
    learned, slot_costs = slots(slot_steps)
    tight = evaluate_placement(given, DAYS, slack=TIGHT)
    return {
        "days": len(DAYS),
        "mig_day": means(evaluate_placement(given, DAYS) + learned),
        "unseen_days": means(evaluate_placement(given, UNSEEN)),
        "slot_steps": slot_steps,
        "slot_training": slot_costs,
        "elsewhere": elsewhere(placers),
        "tight_deadlines": means(tight),
    }
