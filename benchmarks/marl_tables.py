"""The tables of docs/results/selector-allocator.md from benchmarks/results/marl.json.

python -m benchmarks.marl_tables
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent / "results" / "marl.json"


def lines(result: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for name, site in result["traces"].items():
        for kind, part in site["knowledge"].items():
            found += _site(name, kind, site, part)
    return [*found, *_latency(result["latency"])]


def _site(name: str, kind: str, site: dict[str, Any], part: dict[str, Any]) -> list[str]:
    chosen = part["choice"]
    size = site["size"]
    rows = [
        f"**{name}**, {kind}; the choice is {chosen['order']}@{chosen['placement']}; "
        f"{site['jobs']:,} jobs at load {size['load']:g}, {size['seeds']} seeds "
        f"(halves {size['half_seeds']}), "
        f"{size['epochs']} epochs of {size['episodes']} episodes",
        "",
        "| policy | wait | turnaround | bsld | utilisation | wait, 95th % | bsld of all jobs |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for policy, row in part["rows"].items():
        rows.append(
            f"| {policy} | {row['wait']:,.0f} s | {row['turnaround']:,.0f} s | {row['bsld']:.2f} | "
            f"{100 * row['utilisation']:.1f} % | {row['wait_p95']:,.0f} s | "
            f"{row['whole_bsld']:.2f} |"
        )
    rows += [
        "",
        "| arm (mean of its seeds) | against | wait | bsld |",
        "| --- | --- | ---: | ---: |",
    ]
    for arm, rivals in part["arms_against"].items():
        for rival, ratios in rivals.items():
            label = f"{rival} (best of nine)" if rival == part["best_of_nine"] else rival
            wait, bsld = _change(ratios["wait"]), _change(ratios["bsld"])
            rows.append(f"| {arm} | {label} | {wait} | {bsld} |")
    passed = sum(bool(gate and gate["passed"]) for gate in part["gates"].values())
    spent = [row["cpu_seconds"] for row in part["training"].values()]
    rows += [
        "",
        f"Of {len(part['gates'])} trainings {passed} passed the gate; a training took "
        f"{min(spent):.0f} to {max(spent):.0f} s of one core.",
        "",
    ]
    return rows


def _change(ratio: dict[str, float]) -> str:
    value, low, high = (100 * (ratio[name] - 1) for name in ("value", "low", "high"))
    return f"{value:+.0f} % [{low:+.0f}, {high:+.0f}]"


def _latency(latency: dict[str, Any]) -> list[str]:
    rows = [
        "| nodes | jobs waiting | median | 99th percentile, clock | 99th percentile, CPU time |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in latency["decisions"]:
        rows.append(
            f"| {row['nodes']:,} | {row['jobs_waiting']} | {row['median_ms']:.2f} ms | "
            f"{row['p99_ms']:.2f} ms | {row['cpu_p99_ms']:.2f} ms |"
        )
    return rows


if __name__ == "__main__":
    print("\n".join(lines(json.loads(RESULT.read_text(encoding="utf-8")))))
