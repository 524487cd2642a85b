"""The tables of docs/results/learned-policies.md from benchmarks/results/rltune.json.

python -m benchmarks.rltune_tables
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent / "results" / "rltune.json"
MEDIAN = "predicted:median,order=median,reserve=median"
RIVALS = ("saf", "sjf", "f1", "qssf", "slurm-multifactor", "fcfs")
Rows = dict[str, dict[str, Any]]


def change(ratio: dict[str, float]) -> str:
    """A ratio and its interval as changes in per cent."""
    value, low, high = (round(100 * (ratio[name] - 1)) for name in ("value", "low", "high"))
    return f"{value:+d} % [{low:+d}, {high:+d}]"


def figures(row: dict[str, Any]) -> str:
    return f"{row['wait']:,.0f} s / {row['bsld']:.2f}"


def rows_of(found: dict[str, Any], kind: str) -> Rows:
    return {row["policy"]: row for row in found["knowledge"][kind]["rows"]}


def knowledge(traces: dict[str, Any]) -> list[str]:
    """The order that was chosen, under what it may be told."""
    lines = [
        "| trace | order | plain median | the choice's prediction | limits | exact "
        "| wait over exact | bsld of the median's |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, found in traces.items():
        told = {kind: rows_of(found, kind)["choice"] for kind in found["knowledge"]}
        own, exact, plain = told["predicted"], told["exact"], told[MEDIAN]
        cells = [
            name,
            str(found["choice"]["order"]),
            figures(plain),
            figures(own),
            figures(told["limit"]) if "limit" in told else "",
            figures(exact),
            f"{own['wait'] / exact['wait'] - 1:+.0%}",
            f"{own['bsld'] / plain['bsld'] - 1:+.0%}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def against_rivals(traces: dict[str, Any], kind: str) -> list[str]:
    """The choice beside heuristics under the same kind of knowledge, as changes against each."""
    lines = [
        f"| trace | choice | {' | '.join(RIVALS)} |",
        "| --- | ---: |" + " ---: |" * len(RIVALS),
    ]
    for name, found in traces.items():
        if kind in found["knowledge"]:
            rows = rows_of(found, kind)
            own = rows["choice"]
            cells = [ratios(own, rows[rival]) for rival in RIVALS]
            lines.append(f"| {name} | {figures(own)} | {' | '.join(cells)} |")
    return [*lines, ""]


def ratios(own: dict[str, Any], other: dict[str, Any]) -> str:
    return " / ".join(f"{own[m] / other[m] - 1:+.0%}" for m in ("wait", "bsld"))


def intervals(traces: dict[str, Any]) -> list[str]:
    """The choice against each rival with intervals."""
    lines = [
        "| trace | rival | rival: wait / bsld | the choice against it: wait | bsld |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for name, found in traces.items():
        rows = rows_of(found, "predicted")
        lines += [
            f"| {name} | {rival} | {figures(rows[rival])} | {change(rows[rival]['wait_ratio'])} | "
            f"{change(rows[rival]['bsld_ratio'])} |"
            for rival in RIVALS
        ]
    return [*lines, ""]


def chosen(traces: dict[str, Any]) -> list[str]:
    """What was chosen on each trace, and how far ahead of plain SAF it was on validation."""
    lines = [
        "| trace | cluster | unseen jobs | chosen | on validation, against SAF: wait / bsld |",
        "| --- | --- | ---: | --- | ---: |",
    ]
    for name, found in traces.items():
        one = found["choice"]
        estimates = one["estimates"].partition(",")[2].replace("order=", "").replace("reserve=", "")
        label = f"{one['order']}@{one['placement']} ({estimates.replace(',', ', reservations ')})"
        row = next(row for row in one["table"] if row["candidate"] == label)
        jobs = found["knowledge"]["predicted"]["unseen_jobs"]
        lines.append(
            f"| {name} | {found['cluster']} | {jobs:,} | {label} | {row['wait']:+.0%} / "
            f"{row['bsld']:+.0%} |"
        )
    return [*lines, ""]


def learned(traces: dict[str, Any]) -> list[str]:
    """Each arm on the last tenth against the choice: means over seeds, and what the gate let by."""
    lines = [
        "| trace | arm | seeds | gain on validation | last tenth, against the choice: wait / bsld "
        "| worst seed | passed the gate |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, found in traces.items():
        rows = rows_of(found, "predicted")
        arms = dict.fromkeys(arm.rpartition("-")[0] for arm in found["gate"])
        for arm in ("hand-set index", *arms):
            seeds = [one for one in rows if one == arm or one.rpartition("-")[0] == arm]
            logs = [_logs(rows[one], rows["choice"]) for one in seeds]
            gates = [found["gate"][one] for one in seeds if one in found["gate"]]
            gains = [gate["gain"] for gate in gates if not math.isnan(gate["gain"])]
            cells = [name, arm, str(len(seeds)), f"{_mean(gains):+.2f}" if gates else ""]
            cells += [_shares(_means(logs)), _shares(max(logs, key=sum)) if gates else ""]
            cells += [str(sum(gate["passed"] for gate in gates)) if gates else ""]
            lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def _logs(own: dict[str, Any], other: dict[str, Any]) -> tuple[float, float]:
    return math.log(own["wait"] / other["wait"]), math.log(own["bsld"] / other["bsld"])


def _means(logs: list[tuple[float, float]]) -> tuple[float, float]:
    return _mean(wait for wait, _ in logs), _mean(bsld for _, bsld in logs)


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known) if known else math.nan


def _shares(logs: tuple[float, float]) -> str:
    return " / ".join(f"{math.expm1(value):+.0%}" for value in logs)


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
    lines = [*chosen(traces), *knowledge(traces), *intervals(traces)]
    for kind in ("predicted", "limit"):
        lines += [kind, "", *against_rivals(traces, kind)]
    lines += learned(traces)
    for name, found in traces.items():
        lines += who_pays(name, found.get("who_pays", []))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
