"""How well each way of backfilling foretells a real Slurm: the same jobs through both.

    python -m benchmarks.run backfill
    python -m benchmarks.backfill --seeds 1 --jobs 300 --speed 10 --out backfill.json

A Slurm with default backfill parameters runs jobs in order of arrival (all priorities are equal)
in faster time; the daemon has no part in it. Its submissions and run times go to the simulator,
which has to find the start times. One early start changes all that comes after: besides start
times, mean waits are compared. What Slurm needs to clean up after a job and to start the next is
a tenth of a second, multiplied by the speed: the slower the clock, the fairer the comparison.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.slurm_jobs import Observed, Work, draw
from benchmarks.slurm_measures import simulated
from benchmarks.slurm_run import observed_jobs, submit_all, wait_for_all
from dovetail.live.twin.order import Order
from dovetail.policies.policy import Policy
from tests.live.slurm import Cluster, Options, why_not

WAYS = ("slurm", "easy", "conservative", "none")
SEEDS = (1, 2, 3)
SPEED = 40.0
JOBS = 300
CLOSE = 60.0
"""Seconds within which a start counts as foretold: two cycles."""


def run(seeds: Sequence[int] = SEEDS, jobs: int = JOBS, speed: float = SPEED) -> dict[str, Any]:
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
            "ways": {way: compare(work, seen, way) for way in WAYS},
        }
    return {"jobs": jobs, "speed": speed, "seeds": found}


def observe(work: tuple[Work, ...], options: Options) -> Observed:
    """The jobs through a real Slurm."""
    with Cluster(options) as slurm:
        submit_all(slurm, work, options.speed)
        wait_for_all(slurm, work, options.speed)
        return observed_jobs(slurm, work)[0]


def compare(work: tuple[Work, ...], seen: Observed, way: str) -> dict[str, float]:
    """What the simulator says of the same submissions and run times."""
    ordering, placement, backfill = Policy.parse(f"fcfs+{way}").parts()
    told = simulated(work, Order(ordering, placement, backfill), seen)
    off = np.abs(told.start - seen.start)
    return {
        "wait_mean": float(told.wait.mean()),
        "wait_error": float(told.wait.mean() / seen.wait.mean() - 1.0),
        "start_off_median": float(np.median(off)),
        "start_off_p90": float(np.quantile(off, 0.9)),
        "foretold": float(np.mean(off <= CLOSE)),
    }


def table(found: dict[str, Any]) -> str:
    """One line for each seed and way; seconds."""
    heads = ("seed", "way", "wait", "error", "off p50", "off p90", "≤60 s")
    lines = ["{:>4} {:14} {:>7} {:>8} {:>8} {:>8} {:>6}".format(*heads)]
    for seed, one in found["seeds"].items():
        lines.append(f"{seed:>4} {'real Slurm':14} {one['wait_mean']:7.0f}")
        for way, row in one["ways"].items():
            off = f"{row['start_off_median']:8.0f} {row['start_off_p90']:8.0f}"
            lines.append(
                f"{'':4} {way:14} {row['wait_mean']:7.0f} {row['wait_error']:+8.1%} "
                f"{off} {row['foretold']:6.0%}"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)), help="comma-separated")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--speed", type=float, default=SPEED)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = run([int(seed) for seed in given.seeds.split(",")], given.jobs, given.speed)
    print(table(found))
    if given.out:
        given.out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
