"""The tables of the Slurm experiment from benchmarks/results/slurm.json.

python -m benchmarks.slurm_tables [FILE]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.slurm import OURS

RESULT = Path(__file__).parent / "results" / "slurm.json"
NAMES = {
    "makespan": "makespan",
    "wait_mean": "mean wait",
    "wait_p50": "median wait",
    "wait_p95": "p95 of waits",
    "bsld_mean": "bounded slowdown",
    "gpu_utilization": "GPU utilisation",
    "gpu_utilization_while_jobs_came": "the same while jobs came",
}


TITLES = {
    "slurm": "Slurm",
    "dovetail": "order alone",
    "promises": "with promises",
    "near": "order near Slurm's",
}


def titled(name: str) -> str:
    return NAMES.get(name) or name.replace("wait_p95", "p95 of waits")


def shown(name: str, value: float) -> str:
    if name.startswith("gpu_utilization"):
        return f"{value:.1%}"
    return f"{value:.2f}" if name == "bsld_mean" else f"{value:,.0f} s"


def signed(value: float | None) -> str:
    return "" if value is None else f"{100 * value:+.1f} %"


def outcome(result: dict[str, Any]) -> list[str]:
    """Each seed's changes and their mean, order alone and with promises, and the published ones."""
    seeds = result["seeds"]
    lines = [
        "| change against Slurm alone | "
        + " | ".join(f"{TITLES[side]}, seed {seed}" for side in OURS for seed in [*seeds, "mean"])
        + " | published |",
        "| --- |" + " ---: |" * (len(OURS) * (len(seeds) + 1) + 1),
    ]
    for name in result["mean_change"][OURS[0]]:
        cells = [
            signed(change.get(name))
            for side in OURS
            for change in (
                *(pair["change"][side] for pair in seeds.values()),
                result["mean_change"][side],
            )
        ]
        cells += [signed(result["published_change"].get(name))]
        lines.append(f"| {titled(name)} | " + " | ".join(cells) + " |")
    return [*(line.replace("seed mean", "mean") for line in lines), ""]


def one_seed(seed: str, pair: dict[str, Any]) -> list[str]:
    """The runs as they were."""
    sides = ("slurm", *OURS)
    lines = [
        f"**Seed {seed}**; no schedule has a makespan below {pair['least_makespan']:,.0f} s",
        "",
        "| | " + " | ".join(TITLES[side] for side in sides) + " | twin: Slurm |",
        "| --- |" + " ---: |" * (len(sides) + 1),
    ]
    for name in pair["slurm"]["real"]:
        cells = [shown(name, pair[side]["real"][name]) for side in sides]
        cells.append(_twin(name, pair["slurm"]))
        lines.append(f"| {titled(name)} | " + " | ".join(cells) + " |")
    updates = [f"{pair[side]['updates_per_hour']:,.0f}" for side in sides]
    return [*lines, "| updates an hour | " + " | ".join(updates) + " | |", ""]


def _twin(name: str, side: dict[str, Any]) -> str:
    """What the simulator makes of the run, how far off that is, and with pauses between jobs."""
    error = signed(side["twin_error"].get(name))
    slowed = side.get("twin_error_with_dead_time", {}).get(name)
    paused = f"; with pauses {signed(slowed)}" if slowed is not None else ""
    return f"{shown(name, side['replayed'][name])} ({error}{paused})"


def conduct(result: dict[str, Any]) -> list[str]:
    """Whether the runs can be trusted: run times, failures, what the daemon did."""
    lines = [
        "| seed, run | jobs run longer by (of mean) | cycles | longest queue | changes, failed "
        "| read / decide / act, ms | guardrails |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for seed, pair in result["seeds"].items():
        for side in ("slurm", *OURS):
            lines.append(_conduct(f"{seed}, {side}", pair[side]))
    return [*lines, ""]


def _conduct(name: str, side: dict[str, Any]) -> str:
    daemon, honesty = side["daemon"], side["honesty"]
    longer = honesty["run_longer"]["median"]
    times = " / ".join(
        f"{daemon[key]['median']:.0f}" if daemon[key] else "–"
        for key in ("read_ms", "decide_ms", "act_ms")
    )
    said = ", ".join(f"{what} {count}×" for what, count in sorted(daemon["verdicts"].items()))
    return (
        f"| {name} | {longer:.0f} s ({longer / honesty['run_time_mean']:.1%}) | {daemon['cycles']} "
        f"| {daemon['longest_queue']} | {daemon['changes_sent']:,}, {daemon['changes_failed']} "
        f"| {times} | {said or 'none'} |"
    )


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULT
    result = json.loads(path.read_text(encoding="utf-8"))
    lines = outcome(result)
    for seed, pair in result["seeds"].items():
        lines += one_seed(seed, pair)
    print("\n".join(lines + conduct(result)))


if __name__ == "__main__":
    main()
