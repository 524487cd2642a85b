"""The tables of docs/results/selector-allocator.md from benchmarks/results/marl.json.

python -m benchmarks.marl_tables
"""

from __future__ import annotations

import json
import sys
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
    chosen, size = part["choice"], site["size"]
    rows = [
        f"**{name}**, {kind}; the choice is {chosen['order']}@{chosen['placement']} with "
        f"{chosen['estimates']}; {site['jobs']:,} jobs at load {size['load']:g}, "
        f"{size['seeds']} seeds (halves {size['half_seeds']}), search of {size['search_epochs']} "
        f"epochs, PPO of {size['epochs']} epochs of {size['episodes']} episodes. Of the nine, "
        f"{', '.join(f'{name} by {by}' for by, name in part['best_of_nine'].items())} is best.",
        "",
        "| policy | wait | bsld | utilisation | wait, windows | bsld, windows |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for policy, row in sorted(part["rows"].items()):
        rows.append(
            f"| {policy} | {row['wait']:,.0f} s | {row['bsld']:.2f} | "
            f"{100 * row['utilisation']:.1f} % | {row['windows_wait']:,.0f} s | "
            f"{row['windows_bsld']:.2f} |"
        )
    return [*rows, "", *_against(part), "", *_trainings(part), ""]


def _against(part: dict[str, Any]) -> list[str]:
    rows = [
        "| arm (all seeds) | against | wait, tenth | bsld, tenth | wait, windows | bsld, windows |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    windows = part["against"]["windows"]
    for arm, rivals in part["against"]["unseen"].items():
        for rival, ratios in rivals.items():
            label = f"{rival} (best of nine)" if rival in part["best_of_nine"].values() else rival
            cells = (
                _change(found[metric])
                for found in (ratios, windows[arm][rival])
                for metric in ("wait", "bsld")
            )
            rows.append(f"| {arm} | {label} | {' | '.join(cells)} |")
    return rows


def _trainings(part: dict[str, Any]) -> list[str]:
    rows = [
        "| training | CPU | kept | best at epoch | validation: wait, bsld | gate |",
        "| --- | ---: | --- | ---: | ---: | --- |",
    ]
    for name, row in part["training"].items():
        gate, kept = row["gate"], row["kept"]
        rows.append(
            f"| {name} | {row['cpu_seconds']:.0f} s | {kept} | {row['best_epoch']} | "
            f"{100 * row['halves'][kept]['wait']:+.0f} %, "
            f"{100 * row['halves'][kept]['bsld']:+.0f} % | "
            f"{'passed' if gate['passed'] else 'not passed'}: wait {100 * gate['wait']:+.0f} %, "
            f"bsld {100 * gate['bsld']:+.0f} % |"
        )
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
    found = json.loads(RESULT.read_text(encoding="utf-8"))
    if any("search_epochs" not in site["size"] for site in found["traces"].values()):
        sys.exit(f"{RESULT.name} was measured before the search: run python -m benchmarks.run marl")
    print("\n".join(lines(found)))
