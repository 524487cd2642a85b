"""The tables of docs/results/selector-allocator.md, from what lies in benchmarks/results.

python -m benchmarks.marl_brief       # benchmarks.marl_tables prints the long ones
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from benchmarks.marl_format import ARMS, QUEUE, cases, change, changes, read
from benchmarks.marl_speeds import BY_SPEED

FIRST, SAF = "fcfs@first-available", "saf@best-fit"


def lines() -> Iterator[str]:
    usual, slowdown = read("marl"), cases(read("marl_slowdown"))
    equal = {n: part for n, part in cases(usual).items() if BY_SPEED[0] not in part["rows"]}
    yield from _cooperation(equal)
    yield from _nine(equal, slowdown)
    yield from _utilisation(equal)
    yield from _speeds({n: part for n, part in cases(usual).items() if n not in equal})
    yield from _latency(usual["latency"])


def _cooperation(parts: dict[str, Any]) -> Iterator[str]:
    """What learning adds: all who wait, wait and slowdown."""
    yield (
        "| history | the choice | the pair against it | the selector against it | "
        "the allocator under SAF, against SAF | passed the gate |"
    )
    yield "| --- | --- | --- | --- | --- | ---: |"
    for name, part in parts.items():
        found, chosen = part["against"]["unseen"], part["choice"]
        passed = [row["gate"]["passed"] for row in part["training"].values()]
        cells = [
            changes(found[arm][rival], QUEUE) if arm in found else ""
            for arm, rival in (("pair", "choice"), ("selector", "choice"), ("allocator-saf", SAF))
        ]
        yield (
            f"| {name} | {chosen['order']}@{chosen['placement']} | {' | '.join(cells)} | "
            f"{sum(passed)} of {len(passed)} |"
        )
    yield ""


def _nine(usual: dict[str, Any], slowdown: dict[str, Any]) -> Iterator[str]:
    """The choice by each objective against the best of nine: slowdown, and use in points."""
    yield (
        "| history | best of nine | chosen as usual: slowdown | GPUs in use | chosen for slowdown "
        "| slowdown | wait | GPUs in use |"
    )
    yield "| --- | --- | --- | ---: | --- | --- | --- | ---: |"
    for name, part in usual.items():
        best, other = part["best_of_nine"]["queue_bsld"], slowdown.get(name)
        against = part["against"]["unseen"]["choice"][best]
        cells = [best, change(against["queue_bsld"]), _points(part["rows"], best)]
        if other is not None:
            found, chosen = other["against"]["unseen"], other["choice"]
            cells += [
                f"{chosen['order']}@{chosen['placement']}",
                change(found["choice"][best]["queue_bsld"]),
                change(found["choice"][best]["queue_wait"]),
                _points(other["rows"], best),
            ]
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""


def _points(rows: dict[str, Any], best: str) -> str:
    """How much more of the GPUs is used, in points."""
    more = rows["choice"]["utilisation"] - rows[best]["utilisation"]
    return f"{100 * more:+.1f}".replace("-", "−")


def _utilisation(parts: dict[str, Any]) -> Iterator[str]:
    """Where more comes than fits, from `benchmarks.marl_loads`."""
    loads = read("marl_loads")["cases"]
    yield (
        "| history | the choice, load 1.2 | the pair | FCFS with first-available "
        "| no schedule above |"
    )
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name in parts:
        loaded = loads[name]["cells"]["recorded, 1.2"]
        used = {policy: row["utilisation"] for policy, row in loaded["rows"].items()}
        pairs = [share for policy, share in used.items() if policy.startswith("pair-")]
        pair = sum(pairs) / len(pairs) if pairs else math.nan
        shown = (used["choice"], pair, used[FIRST], loaded["most_utilisation"])
        texts = ("" if math.isnan(cell) else f"{100 * cell:.1f} %" for cell in shown)
        yield f"| {name} | {' | '.join(texts)} |"
    yield ""


def _speeds(parts: dict[str, Any]) -> Iterator[str]:
    """Where GPUs differ in speed: against rivals that know it, too. All who wait."""
    for name, part in parts.items():
        found = {arm: ours for arm, ours in part["against"]["unseen"].items() if arm in ARMS}
        best = part["best_of_nine"]["queue_bsld"]
        yield f"| {name}, against | {' | '.join(ARMS[arm] for arm in found)} |"
        yield f"| --- |{' --- |' * len(found)}"
        for rival in dict.fromkeys((best, SAF, *BY_SPEED, "choice")):
            label = f"{rival} (best of nine)" if rival == best else rival
            cells = (changes(of[rival], QUEUE) if rival in of else "" for of in found.values())
            yield f"| {label} | {' | '.join(cells)} |"
        yield ""


def _latency(latency: dict[str, Any]) -> Iterator[str]:
    yield "| nodes | jobs waiting | median | 99th percentile, clock | 99th percentile, CPU time |"
    yield "| ---: | ---: | ---: | ---: | ---: |"
    for row in latency["decisions"]:
        yield (
            f"| {row['nodes']:,} | {row['jobs_waiting']} | {row['median_ms']:.2f} ms | "
            f"{row['p99_ms']:.2f} ms | {row['cpu_p99_ms']:.2f} ms |"
        )


if __name__ == "__main__":
    print("\n".join(lines()))
