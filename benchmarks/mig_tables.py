"""The tables about sliced GPUs from benchmarks/results/mig.json.

python -m benchmarks.mig_tables            # prints them
python -m benchmarks.mig_tables docs/how-to/mig.md README.md    # writes them between their marks
"""

from __future__ import annotations

import json
import sys
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
    "pass": "learned from exact run times, others may pass",
    "unsure": "learned under noise, others may pass",
    "dovetail": "`dovetail`, shipped (learned under noise)",
    "ppo": "MaskablePPO as published, a fifth of its steps",
    "adaptive-kl": "the same with adaptive KL",
    "masked-dqn": "masked DQN",
    "prices": "prices set by hand",
    "known-prices": "`known-prices`, learned from exact run times",
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


KINDS = {
    "exact": "exact", "noisy:0.5": "σ = 0.5", "noisy:1": "σ = 1", "noisy:1.5": "σ = 1.5",
    "predicted": "predicted",
}  # fmt: skip


def estimates(result: dict[str, Any]) -> list[str]:
    """Late share and tardiness under each kind of estimates, on days that nobody looked at."""
    found = result["estimates"]["unseen_days"]
    lines = [
        "| late % · tardiness min | " + " | ".join(KINDS.values()) + " |",
        "| --- |" + " ---: |" * len(KINDS),
    ]
    for place, row in enumerate(found["exact"]):
        cells = [
            f"{100 * found[kind][place]['late_share']:.1f} · {found[kind][place]['tardiness']:.2f}"
            for kind in KINDS
        ]
        lines.append(f"| {NAMES.get(row['placer'], row['placer'])} | {' | '.join(cells)} |")
    return lines


def shares(result: dict[str, Any]) -> list[str]:
    """The shipped placement's late share and tardiness as shares of its rivals', with intervals."""
    found = result["estimates"]["unseen_days"]
    lines = [
        "| `dovetail` against | measure | " + " | ".join(KINDS.values()) + " |",
        "| --- | --- |" + " ---: |" * len(KINDS),
    ]
    for name in ("eft", "edf-most-packed", "known-prices"):
        for measure, title in (("late_share", "late"), ("tardiness", "tardiness")):
            rows = [next(r for r in found[kind] if r["placer"] == name) for kind in KINDS]
            ratios = [row[f"shipped_{measure}_of_it"] for row in rows]
            cells = [f"{value:.2f} [{low:.2f}, {high:.2f}]" for value, low, high in ratios]
            lines.append(f"| {NAMES.get(name, name)} | {title} | {' | '.join(cells)} |")
    return lines


TABLES = {
    "placements": placements, "control": control, "estimates": estimates, "shares": shares,
}  # fmt: skip


def write(path: Path, result: dict[str, Any]) -> None:
    """Put each table between `<!-- mig:NAME -->` and `<!-- /mig:NAME -->` of a page."""
    text = path.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        begin, end = f"<!-- mig:{name} -->", f"<!-- /mig:{name} -->"
        if begin in text:
            before, rest = text.split(begin, 1)
            _, after = rest.split(end, 1)
            text = "\n".join([before + begin, *table(result), end + after])
    path.write_text(text, encoding="utf-8")


def main(pages: list[str]) -> None:
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    for page in pages:
        write(Path(page), result)
    if not pages:
        print("\n\n".join("\n".join(table(result)) for table in TABLES.values()))


if __name__ == "__main__":
    main(sys.argv[1:])
