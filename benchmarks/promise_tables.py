"""The tables of docs/results/promises.md from what was measured.

python -m benchmarks.promise_tables
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.promise_keeping import SLURM
from benchmarks.promises import GUARDED, SHIPPED
from dovetail.agents.choice.candidates import BETWEEN

RESULTS = Path(__file__).parent / "results"
ORDERS = (SHIPPED, GUARDED, *BETWEEN)


def main() -> None:
    promises = json.loads((RESULTS / "promises.json").read_text(encoding="utf-8"))
    traces = {name: part for name, part in promises.items() if isinstance(part, dict)}
    print("\n".join(chosen_table(traces)), end="\n\n")
    print("\n".join(later_table(traces)), end="\n\n")
    slurm = json.loads((RESULTS / "slurm_promises.json").read_text(encoding="utf-8"))
    print("\n".join(experiment_table(slurm)))


def chosen_table(traces: Mapping[str, Any]) -> Iterator[str]:
    """What the earlier half chose, and what became of it on the later."""
    yield (
        "| history | chosen on the earlier half | Slurm: mean wait | chosen | of the shipped"
        " policy's gain | worst class's p95 | Slurm against itself | in use, points |"
    )
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, part in traces.items():
        later = part["later"]
        ours, slurm = later["orders"][part["chosen"]], later["orders"][SLURM]
        low, high = later["slurm_against_itself"][ours["worst_class"]]
        yield (
            f"| {name} | {part['chosen']} | {slurm['wait_mean']:,.0f} s "
            f"| {ours['wait_mean']:,.0f} s ({change(slurm, ours)}) | {ours['gain_kept']:.0%} "
            f"| {ours['worst_class_p95_change']:+.0%} ({ours['worst_class']}) "
            f"| {low:+.0%} to {high:+.0%} | {ours['in_use_points'][1]:+.2f} |"
        )


def later_table(traces: Mapping[str, Any]) -> Iterator[str]:
    """Every order on the later halves: mean wait against Slurm's, and the worst class."""
    yield "| history, later half | " + " | ".join(ORDERS) + " |"
    yield "| --- |" + " ---: |" * len(ORDERS)
    for name, part in traces.items():
        orders = part["later"]["orders"]
        cells = (
            f"{change(orders[SLURM], orders[order])}; "
            f"{orders[order]['worst_class_p95_change']:+.0%}"
            for order in ORDERS
        )
        yield f"| {name} | " + " | ".join(cells) + " |"


def experiment_table(slurm: Mapping[str, Any]) -> Iterator[str]:
    """The jobs of the Slurm experiment, all seeds together."""
    orders = slurm["all"]
    classes = list(orders[SLURM]["p95_by_class"])
    yield (
        "| order | mean wait | gain kept | "
        + " | ".join(f"p95, {c}" for c in classes)
        + (" | in use while jobs came, points |")
    )
    yield "| --- | ---: | ---: |" + " ---: |" * len(classes) + " ---: |"
    for order in (SLURM, *ORDERS):
        found = orders[order]
        tails = (
            f"{(after - before) / max(before, 60.0):+.0%}"
            for before, after in found["p95_by_class"].values()
        )
        yield (
            f"| {order} | {found['wait_mean']:,.0f} s | {found['gain_kept']:.0%} | "
            + " | ".join(tails)
            + f" | {found['in_use_points'][1]:+.1f} |"
        )


def change(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Of the mean wait."""
    return f"{after['wait_mean'] / before['wait_mean'] - 1:+.0%}"


if __name__ == "__main__":
    main()
