"""The tables of docs/results/learned-policies.md from benchmarks/results/rltune.json.

python -m benchmarks.rltune_tables
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent / "results" / "rltune.json"


def change(ratio: dict[str, float]) -> str:
    """A ratio and its interval as changes in per cent."""
    value, low, high = (round(100 * (ratio[name] - 1)) for name in ("value", "low", "high"))
    return f"{value:+d} % [{low:+d}, {high:+d}]"


def figures(row: dict[str, Any]) -> str:
    return f"{row['wait']:,.0f} s / {row['bsld']:.2f}"


def against_choice(name: str, found: dict[str, Any]) -> list[str]:
    """Every policy on the last tenth, and the choice against it."""
    lines = []
    for kind, part in found["knowledge"].items():
        lines += [
            f"**{name}** on {found['cluster']}, {kind}, {part['unseen_jobs']:,} unseen jobs; the "
            f"choice is {found['choice']['order']}, {found['choice']['estimates']}, "
            f"{found['choice']['placement']}",
            "",
            "| policy | wait | bsld | the choice against it: wait | bsld |",
            "| --- | ---: | ---: | ---: | ---: |",
        ]
        lines += [
            f"| {row['policy']} | {row['wait']:,.0f} s | {row['bsld']:.2f} | "
            f"{change(row['wait_ratio'])} | {change(row['bsld_ratio'])} |"
            for row in part["rows"]
        ]
        lines.append("")
    return lines


def verdicts(traces: dict[str, Any]) -> list[str]:
    """What the gate said of each training."""
    lines = ["| training | gain on validation | gate |", "| --- | ---: | --- |"]
    for name, found in traces.items():
        for arm, gate in found["gate"].items():
            if gate is not None:
                lines.append(f"| {name}, {arm} | {gate['gain']:+.3f} | {gate['sentence']} |")
    return [*lines, ""] if len(lines) > 2 else []


def who_pays(name: str, groups: list[dict[str, Any]]) -> list[str]:
    lines = [
        f"**{name}**: waits under Slurm's own order and under the choice, predicted",
        "",
        "| jobs of | jobs | mean | 95th percentile |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {group['name']} | {group['jobs']:,} | {group['baseline_mean']:,.0f} → "
        f"{group['mean']:,.0f} s | {group['baseline_p95']:,.0f} → {group['p95']:,.0f} s |"
        for group in groups
    ]
    return [*lines, ""]


def main() -> None:
    traces = json.loads(RESULT.read_text(encoding="utf-8"))["traces"]
    lines = [line for name, found in traces.items() for line in against_choice(name, found)]
    lines += verdicts(traces)
    for name, found in traces.items():
        lines += who_pays(name, found.get("who_pays", []))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
