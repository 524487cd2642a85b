"""The tables of the README from benchmarks/results/rltune.json.

python -m benchmarks.rltune_tables
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent / "results" / "rltune.json"
MEASURES = ("wait", "bsld", "jct")


def change(ratio: dict[str, float]) -> str:
    """A ratio and its interval as changes in per cent."""
    value, low, high = (round(100 * (ratio[name] - 1)) for name in ("value", "low", "high"))
    return f"{value:+d} % [{low:+d}, {high:+d}]"


def figures(row: dict[str, Any]) -> str:
    return f"{row['wait']:,.0f} s / {row['bsld']:.2f}"


def against_bases(traces: dict[str, Any]) -> list[str]:
    """The shipped policy against each base: wait, bounded slowdown, completion."""
    lines = []
    for name, found in traces.items():
        lines += [
            f"**{name}**, {found['unseen_jobs']:,} unseen jobs; bound on the mean wait "
            f"{found['bound']['wait']:,.0f} s",
            "",
            "| policy | wait | bsld | JCT | util. | wait / bound | dovetail: wait | bsld | JCT |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        ]
        for row in found["rows"]:
            ratios = " | ".join(change(row[f"{measure}_ratio"]) for measure in MEASURES)
            lines.append(
                f"| {row['policy']} | {row['wait']:,.0f} s | {row['bsld']:.2f} | "
                f"{row['jct']:,.0f} s | {row['utilisation']:.1%} | {row['wait_over_bound']:.1f} | "
                f"{ratios} |"
            )
        lines.append("")
    return lines


def summary(traces: dict[str, Any]) -> list[str]:
    """Learned policies beside the best heuristics of the whole registry."""
    lines = [
        "| mean wait / bsld, unseen tenth | " + " | ".join(traces) + " |",
        "| --- |" + " ---: |" * len(traces),
    ]
    rows = {name: {row["policy"]: row for row in found["rows"]} for name, found in traces.items()}
    learned = [
        ("`dovetail`, learned on all three", "dovetail+easy"),
        ("learned on the trace alone", "learned on this trace alone"),
        ("saf+easy", "saf+easy"),
        ("saf+easy@lifetime", "saf+easy@lifetime"),
    ]
    for label, policy in learned:
        lines.append(f"| {label} | " + " | ".join(figures(rows[n][policy]) for n in traces) + " |")
    for measure in ("wait", "bsld"):
        cells = []
        for name, found in traces.items():
            best = found["best_heuristic"][measure]
            row = rows[name][best]
            cells.append(f"{best}: {figures(row)}; dovetail {change(row[f'{measure}_ratio'])}")
        lines.append(f"| best heuristic by {measure} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def transferred(cells: list[dict[str, Any]]) -> list[str]:
    tested = [*dict.fromkeys(cell["tested_on"] for cell in cells)]
    found = {(cell["trained_on"], cell["tested_on"]): cell for cell in cells}
    lines = [
        "| trained on, wait / bsld against saf+easy | " + " | ".join(tested) + " |",
        "| --- |" + " ---: |" * len(tested),
    ]
    for trained in dict.fromkeys(cell["trained_on"] for cell in cells):
        pairs = [found[trained, where] for where in tested]
        shown = (f"{change(pair['wait'])} / {change(pair['bsld'])}" for pair in pairs)
        lines.append(f"| {trained} | " + " | ".join(shown) + " |")
    return [*lines, ""]


def ablated(found: dict[str, Any]) -> list[str]:
    lines = ["| PPO from random weights | wait | bsld |", "| --- | ---: | ---: |"]
    for row in found["rows"]:
        lines.append(f"| {row['policy']} | {row['wait']:,.0f} s | {row['bsld']:.2f} |")
    return [*lines, ""]


def main() -> None:
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    lines = summary(result["traces"]) + against_bases(result["traces"])
    lines += transferred(result["transfer"])
    for name, found in result.get("ablation", {}).items():
        lines += [name, "", *ablated(found)]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
