"""The tables about sliced GPUs from benchmarks/results/mig.json.

python -m benchmarks.mig_tables
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent / "results" / "mig.json"
PUBLISHED = {
    "eft": "42.7 · 1.02 · 2.51",
    "largest-first": "42.7 · 1.02 · 2.51",
    "smallest-first": "54.3 · 1.21 · 2.42",
    "random": "50.1 · 1.13 · 2.49",
    "ppo": "37.9 · 1.01 · 2.44",
}
NAMES = {
    "place": "learned, never waits",
    "wait": "learned, may wait",
    "pass": "learned, others may pass",
    "dovetail": "`dovetail`, shipped (others may pass)",
    "ppo": "MaskablePPO as published, a fifth of its steps",
    "adaptive-kl": "the same with adaptive KL",
    "masked-dqn": "masked DQN",
    "prices": "prices set by hand",
}


def placements(result: dict[str, Any]) -> list[str]:
    """Late share, tardiness and energy of all placements, on the published days and unseen ones."""
    unseen = {row["placer"]: row for row in result["learned_placement"]["unseen_days"]}
    lines = [
        "| late % · tardiness min · 10⁶ W·min | 10 MIG days | 30 days that nobody looked at "
        "| published |",
        "| --- | ---: | ---: | ---: |",
    ]
    for row in result["learned_placement"]["mig_day"]:
        name = row["placer"]
        other = unseen.get(name)
        lines.append(
            f"| {NAMES.get(name, name)} | {_row(row)} | {_row(other) if other else ''} | "
            f"{PUBLISHED.get(name, '')} |"
        )
    return lines


def _row(row: dict[str, Any]) -> str:
    late, deviation = 100 * row["late_share"], 100 * row["late_share_deviation"]
    return f"{late:.1f} ± {deviation:.1f} · {row['tardiness']:.2f} · {row['energy'] / 1e6:.2f}"


def control(result: dict[str, Any]) -> list[str]:
    """ET of every control against the best static cut, on the published days and unseen ones."""
    found = result["control"]
    first, unseen = found["mig_day"]["controls"], found["unseen_days"]["controls"]
    lines = [
        "| tight deadlines | tardiness min | energy 10⁶ W·min | ET against static | "
        "the same, 30 unseen days | energy above its bound |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one, other in zip(first, unseen, strict=True):
        lines.append(
            f"| {one['control']} | {one['tardiness_mean']:.2f} ± "
            f"{one['tardiness_mean_deviation']:.2f} | {one['energy_watt_minutes'] / 1e6:.3f} | "
            f"{100 * one['energy_tardiness_against_static']:+.1f} % | "
            f"{100 * other['energy_tardiness_against_static']:+.1f} % | "
            f"{100 * one['energy_above_bound']:.1f} % |"
        )
    return lines


def main() -> None:
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    print("\n".join([*placements(result), "", *control(result)]))


if __name__ == "__main__":
    main()
