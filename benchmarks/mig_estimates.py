"""Placements on slices when run times are not known: noisy and predicted beside exact.

    python -m benchmarks.mig_estimates             # into benchmarks/results/mig.json, with the
                                                   # shipped placement's other figures

`known-prices` was learned from exact run times, and takes estimates for the truth.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from benchmarks.mig_placement import DAYS, ELSEWHERE, UNSEEN, means
from dovetail.evaluation.statistics import ratio_of_means
from dovetail.mig.agents.placement_training import evaluate_placement
from dovetail.mig.policies.learned.placement import SHIPPED_NAME
from dovetail.mig.workload.day import TIGHT
from dovetail.mig.workload.seeds import EvaluationDays

RESULT = Path(__file__).parent / "results" / "mig.json"
KINDS = ("exact", "noisy:0.5", "noisy:1", "noisy:1.5", "predicted")
PLACERS = ("eft", "edf-most-packed", "categorical-edf", "known-prices", SHIPPED_NAME)
MEASURES = ("late_share", "tardiness", "energy")

Rows = list[dict[str, Any]]


def table(rows: Rows) -> list[dict[str, Any]]:
    """A row per placement: means over days, and the shipped one's share of each, paired by day."""
    by_name: dict[str, Rows] = {}
    for row in rows:
        by_name.setdefault(row["placer"], []).append(row)
    return [_row(name, mine, by_name[SHIPPED_NAME]) for name, mine in by_name.items()]


def _row(name: str, rows: Rows, shipped: Rows) -> dict[str, Any]:
    found: dict[str, Any] = {"placer": name}
    for measure in MEASURES:
        values = [row[measure] for row in rows]
        found[measure] = round(statistics.mean(values), 4)
        ratio = ratio_of_means([row[measure] for row in shipped], values)
        found[f"shipped_{measure}_of_it"] = [
            round(number, 4) for number in (ratio.value, ratio.low, ratio.high)
        ]
    return found


def run() -> dict[str, Any]:
    def tables(days: EvaluationDays) -> dict[str, Any]:
        return {kind: table(evaluate_placement(PLACERS, days, estimates=kind)) for kind in KINDS}

    return {"mig_day": tables(DAYS), "unseen_days": tables(UNSEEN)}


def shipped_again(result: dict[str, Any]) -> None:
    """Put the shipped placement's present figures in place of older ones."""
    placements = result["learned_placement"]
    given = ("eft", SHIPPED_NAME)
    for part, rows in (
        ("mig_day", evaluate_placement(given, DAYS)),
        ("unseen_days", evaluate_placement(given, UNSEEN)),
        ("tight_deadlines", evaluate_placement(given, DAYS, slack=TIGHT)),
    ):
        placements[part] = _with_shipped(placements[part], rows)
    for name, cluster in ELSEWHERE.items():
        rows = evaluate_placement(given, DAYS, cluster)
        placements["elsewhere"][name] = _with_shipped(placements["elsewhere"][name], rows)


def _with_shipped(older: Rows, rows: Rows) -> Rows:
    fresh = next(row for row in means(rows) if row["placer"] == SHIPPED_NAME)
    return [*(row for row in older if row["placer"] != SHIPPED_NAME), fresh]


def main() -> None:
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    result["estimates"] = run()
    shipped_again(result)
    RESULT.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
