"""The published experiment on a real Slurm: equal-weight multifactor against Dovetail.

    python -m benchmarks.run slurm
    python -m benchmarks.slurm --seeds 1 --policy saf --jobs 1024 --speed 100 --out saf.json

Two P100 nodes with four GPUs, two K80 nodes with two, one M40 node with one; 500 jobs that arrive
while others run (1,024 in the published experiment). One run is Slurm 22.05 with
`priority/multifactor` and equal weights, the daemon in shadow mode beside it; another has it in
active mode, order alone; a third has promises to size classes on; a fourth an order near Slurm's
own, which has to keep them by itself. All happen at once, in faster time: about five minutes.
Beside the real figures stand the simulator's, and how far off they are.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.slurm_jobs import LOAD, Observed, Work, draw
from benchmarks.slurm_measures import (
    changes,
    dead_time,
    honesty,
    least_makespan,
    measures,
    simulated,
    twin_error,
)
from benchmarks.slurm_run import Record, Setup, run_once
from benchmarks.slurm_site import cluster
from dovetail.domain.promises import Promises
from dovetail.live.model.mode import Mode
from dovetail.live.twin.order import Order, order_of, slurm_order
from dovetail.policies.ordering import SHIPPED_NAME
from dovetail.policies.policy import Policy
from tests.live.slurm import Accounting, Options, why_not

SEEDS = (1, 2, 3)
SPEED = 60.0
COUNT = 500
ESTIMATES = "predicted"
"""As the shipped policy was chosen with."""
PROMISES = Promises(size_p95=0.1)
NEAR = "slurm-smaller-100-2h"
"""Chosen in the simulator on other seeds of the same jobs (docs/decisions/0109)."""
OURS = ("dovetail", "promises", "near")
"""Runs in active mode: order alone, with promises, and by an order near Slurm's."""
RECORDINGS = Path(__file__).parent / "recordings" / "slurm"
COLUMNS = ("submit", "start", "end")
PUBLISHED = {"makespan": -0.248, "wait_mean": -0.305, "gpu_utilization": 0.039}


def run(
    seeds: Sequence[int] = SEEDS,
    policy: str = SHIPPED_NAME,
    speed: float = SPEED,
    estimates: str = ESTIMATES,
    count: int = COUNT,
    guardrails: dict[str, float] | None = None,
    keep: Path | None = RECORDINGS,
) -> dict[str, Any]:
    """All runs for every seed, and what the simulator says of them.

    keep: a folder for when each job started and ended under Slurm alone.
    """
    _refuse_where_impossible(speed)
    # The daemons' twins would compile this in the middle of the run: hours of faster time.
    simulated(draw(0, 20), slurm_order(cluster()))
    ours = Setup(Mode.ACTIVE, policy, speed, estimates, guardrails=guardrails or {})
    found = {
        str(seed): _pair(
            draw(seed, count), ours, f"seed {seed}", keep and keep / f"seed-{seed}.json"
        )
        for seed in seeds
    }
    each = {side: [pair["change"][side] for pair in found.values()] for side in OURS}
    return {
        "jobs": count,
        "load": LOAD,
        "policy": policy,
        "estimates": estimates,
        "guardrails": guardrails or {},
        "speed": speed,
        "published_change": PUBLISHED,
        "promises": "size_p95=10%, slack 60 s",
        "near": NEAR,
        "mean_change": {
            side: {name: fmean(row[name] for row in rows) for name in rows[0]}
            for side, rows in each.items()
        },
        "seeds": found,
    }


def _refuse_where_impossible(speed: float) -> None:
    reason = why_not(Options(accounting=Accounting(), speed=speed))
    if reason is None and os.geteuid() != 0:
        reason = "jobs of several users can be submitted by root only"
    if reason is not None:
        raise SystemExit(f"the Slurm experiment cannot be run here: {reason}")


def _pair(jobs: tuple[Work, ...], ours: Setup, name: str, keep: Path | None) -> dict[str, Any]:
    """All runs at the same time: what else the machine does troubles them alike."""
    setups = {
        "slurm": replace(ours, mode=Mode.SHADOW),
        "dovetail": ours,
        "promises": replace(ours, promises=PROMISES),
        "near": replace(ours, policy=NEAR),
    }
    orders = {side: _order(setup.policy) for side, setup in setups.items()}
    orders["slurm"] = slurm_order(cluster())
    with ThreadPoolExecutor(len(setups)) as pool:
        records = dict(
            zip(setups, pool.map(lambda setup: run_once(jobs, setup), setups.values()), strict=True)
        )
    if keep is not None:
        _keep(records["slurm"], keep)
    found: dict[str, Any] = {"least_makespan": least_makespan(jobs)}
    for side, record in records.items():
        found[side] = _side(jobs, record, orders[side])
        _say(f"{name}, {side}: {found[side]['real']}")
    for kind, where in (("change", "real"), ("predicted_change", "predicted")):
        found[kind] = {side: changes(found[side][where], found["slurm"][where]) for side in OURS}
    _say(f"{name}: {found['change']}")
    return found


def _keep(record: Record, path: Path) -> None:
    """What a replay needs, in whole seconds from the first submission: as much as Slurm tells."""
    seen = record.observed
    columns = {
        name: getattr(seen, name).astype(int).tolist() for name in ("submit", "start", "end")
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(columns) + "\n", encoding="utf-8")


def kept(path: Path) -> Observed:
    """A run that `_keep` wrote down."""
    columns = json.loads(path.read_text(encoding="utf-8"))
    return Observed(*(np.array(columns[name], float) for name in COLUMNS))


def _side(jobs: tuple[Work, ...], record: Record, order: Order) -> dict[str, Any]:
    """One run: as it was, as the simulator foretells it, and as it replays it."""
    drawn = simulated(jobs, order)
    dead = dead_time(record.observed, record.nodes)
    replayed = simulated(jobs, order, record.observed)
    slowed = simulated(jobs, order, record.observed, dead)
    return {
        "real": measures(record.observed, jobs),
        "predicted": measures(drawn, jobs),
        "prediction_error": twin_error(drawn, record.observed, jobs),
        "replayed": measures(replayed, jobs),
        "twin_error": twin_error(replayed, record.observed, jobs),
        "dead_time": dead,
        "twin_error_with_dead_time": twin_error(slowed, record.observed, jobs),
        "states": record.states,
        "submitted_again": record.submitted_again,
        "honesty": honesty(record.observed, jobs),
        "daemon": record.daemon,
        "updates_per_hour": record.daemon["changes_sent"]
        / (measures(record.observed, jobs)["makespan"] / 3600.0),
    }


def _order(policy: str) -> Order:
    return order_of(Policy.parse(policy))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--policy", default=SHIPPED_NAME, help="ORDER[@PLACEMENT]")
    parser.add_argument("--speed", type=float, default=SPEED, help="seconds within one second")
    parser.add_argument("--estimates", choices=("limit", "predicted"), default=ESTIMATES)
    parser.add_argument("--jobs", type=int, default=COUNT)
    parser.add_argument("--out", type=Path, default=Path("slurm.json"))
    parser.add_argument("--keep", type=Path, help="a folder for the jobs of Slurm alone")
    parser.add_argument(
        "--guardrail", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
        help="another value than the default, such as starvation_factor 1",
    )  # fmt: skip
    given = parser.parse_args()
    limits = {name: json.loads(value) for name, value in given.guardrail}
    found = run(
        given.seeds, given.policy, given.speed, given.estimates, given.jobs, limits, given.keep
    )
    given.out.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
