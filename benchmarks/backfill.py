"""How well each way of backfilling foretells a real Slurm: the same jobs through both.

    python -m benchmarks.backfill --jobs 300 --speed 30 --out backfill.json

A Slurm 22.05 with default backfill parameters runs jobs in order of arrival (all priorities are
equal) in faster time. Its submissions and run times go to the simulator, which has to find the
start times. Waits are hours long against cycles of half a minute, and one early start changes what
comes after: besides the start times, the mean wait is compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.slurm_jobs import Observed, Work, cluster, draw, trace_of
from benchmarks.slurm_run import observed_jobs, submit_all, wait_for_all
from dovetail.api import simulate
from tests.live.slurm import Cluster, Options, why_not

WAYS = ("slurm", "easy", "conservative", "none")
SPEED = 30.0
JOBS = 300
CLOSE = 60.0
"""Seconds within which a start counts as foretold: two cycles."""


def run(
    seeds: Sequence[int] = (1,), jobs: int = JOBS, speed: float = SPEED, placement: str = "best-fit"
) -> dict[str, Any]:
    """One real run for each seed, and what every way makes of it."""
    options = Options(auth="none", speed=speed, weights=())
    if (reason := why_not(options)) is not None:
        raise SystemExit(f"backfilling cannot be compared here: {reason}")
    found = {}
    for seed in seeds:
        work = draw(seed, jobs)
        seen = observe(work, options)
        found[str(seed)] = {
            "wait_mean": float(seen.wait.mean()),
            "submit": seen.submit.tolist(),
            "start": seen.start.tolist(),
            "end": seen.end.tolist(),
            "ways": {way: compare(work, seen, way, placement) for way in WAYS},
        }
    return {"jobs": jobs, "speed": speed, "placement": placement, "seeds": found}


def observe(work: tuple[Work, ...], options: Options) -> Observed:
    """The jobs through a real Slurm."""
    with Cluster(options) as slurm:
        submit_all(slurm, work, options.speed)
        wait_for_all(slurm, work, options.speed)
        return observed_jobs(slurm, work)[0]


def compare(work: tuple[Work, ...], seen: Observed, way: str, placement: str) -> dict[str, float]:
    """What the simulator says of the same submissions and run times."""
    order = np.argsort(seen.submit, kind="stable")
    schedule = simulate(
        trace_of(work, seen), cluster(), "fcfs", placement, backfill=way, estimates="limit"
    )
    off = schedule.start - seen.start[order]
    return {
        "wait_mean": float(schedule.wait.mean()),
        "wait_error": float(schedule.wait.mean() / seen.wait.mean() - 1.0),
        "start_off_median": float(np.median(np.abs(off))),
        "start_off_p90": float(np.quantile(np.abs(off), 0.9)),
        "foretold": float(np.mean(np.abs(off) <= CLOSE)),
        "backfilled": int(np.count_nonzero(schedule.backfilled)),
    }


def table(found: dict[str, Any]) -> str:
    """One line for each seed and way."""
    lines = [f"{'seed':>4} {'way':14} {'wait':>8} {'error':>8} {'|start off| p50':>16} {'p90':>8} {'≤60 s':>6}"]
    for seed, one in found["seeds"].items():
        lines.append(f"{seed:>4} {'real Slurm':14} {one['wait_mean']:8.0f}")
        for way, row in one["ways"].items():
            lines.append(
                f"{'':4} {way:14} {row['wait_mean']:8.0f} {row['wait_error']:+8.1%} "
                f"{row['start_off_median']:16.0f} {row['start_off_p90']:8.0f} {row['foretold']:6.0%}"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="1", help="comma-separated")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--speed", type=float, default=SPEED)
    parser.add_argument("--placement", default="best-fit")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    seeds = [int(seed) for seed in given.seeds.split(",")]
    found = run(seeds, given.jobs, given.speed, given.placement)
    print(table(found))
    if given.out:
        given.out.write_text(json.dumps(found))


if __name__ == "__main__":
    sys.exit(main())
