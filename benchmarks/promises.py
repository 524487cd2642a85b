"""Who waits less and who pays under orders between Slurm's and SAF, with and without the guardrail.

    python -m benchmarks.run promises

Each history is halved in time. On the earlier half the order is chosen that gains most while no
size class's 95th percentile of waits is more than 5 % worse than under Slurm's own order, half of
what is promised; the later half says what became of that. One replay does not tell: a class of a
few dozen jobs hangs on a few of them. So each is replayed `DRAWS` times, with run times that differ
by 1 %, and waits are counted over all; how far Slurm's own order is from itself in these is shown
beside it. Predicted run times, as the daemon has them; EASY.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.promise_keeping import PROMISES, SLURM, Surroundings, keep_promises
from benchmarks.workloads import REAL, cluster, folder
from dovetail.agents.choice.candidates import BETWEEN
from dovetail.agents.choice.halving import MARGIN
from dovetail.domain.estimates import Estimates
from dovetail.domain.group_waits import P95
from dovetail.domain.job_groups import SIZES, size_codes
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.promises import Promises
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.evaluation.run import Run
from dovetail.policies.policy import Policy, policy_named
from dovetail.prediction.estimates import make_estimates
from dovetail.traces.reader import read_trace

SHIPPED = "dovetail"
GUARDED = f"{SHIPPED}, guardrail"
MOST_JOBS = 40_000
REQUIRED = 0.8
"""Of the shipped policy's gain in mean wait, that is to be kept."""
DRAWS, APART = 5, 0.01
"""Replays of a half, and the standard deviation of the logarithm that run times differ by."""
DAY = 86_400.0

TRACES = {
    "philly": (REAL["philly"][0], REAL["philly"][1]),
    "venus": (REAL["venus"][0], REAL["venus"][1]),
    "kth": ("pwa_kth_sp2_1996.parquet", 13),
    "pai": (REAL["pai"][0], REAL["pai"][1]),
    "lanl": ("pwa_lanl_cm5_1994.parquet", 128),
}


class Pooled(NamedTuple):
    """The waits of all draws under one order, and GPU time in use while jobs came, per draw."""

    wait: Floats
    used: Floats

    @classmethod
    def of(cls, schedules: list[Schedule]) -> Pooled:
        return cls(
            np.concatenate([one.wait for one in schedules]),
            np.array([used_while_jobs_came(one) for one in schedules]),
        )


def run() -> dict[str, Any]:
    found: dict[str, Any] = {"promises": "size_p95=10%, slack 60 s", "draws": DRAWS}
    for name, (file, nodes) in TRACES.items():
        path = folder() / file
        if not path.exists():
            continue
        trace = read_trace(path, repair=("all",))
        earlier = judged(trace.slice(0, min(MOST_JOBS, len(trace) // 2)), nodes, guarded=False)
        later = judged(trace.slice(max(len(trace) - MOST_JOBS, len(trace) // 2), len(trace)), nodes)
        found[name] = {"earlier": earlier, "later": later, "chosen": chosen(earlier["orders"])}
        print(name, found[name]["chosen"], later["orders"][found[name]["chosen"]], flush=True)
    return found


def judged(trace: Trace, nodes: int, guarded: bool = True) -> dict[str, Any]:
    """Every order on one part of a history; `guarded`: the shipped one with promises, too."""
    played: dict[str, list[Schedule]] = {}
    # Predicted once: of run times that differ by 1 % others would be predicted by as little.
    told = {
        name: make_estimates(trace, Policy(name).told("predicted")) for name in (SLURM, SHIPPED)
    }
    for draw in draws(trace):
        for name, schedule in replays(draw, nodes, told, guarded):
            played.setdefault(name, []).append(schedule)
    codes = np.tile(size_codes(trace.jobs.gpus), DRAWS)
    slurm = Pooled.of(played[SLURM])
    gain = float(slurm.wait.mean() - Pooled.of(played[SHIPPED]).wait.mean())
    return {
        "jobs": len(trace),
        "slurm_against_itself": against_itself(played[SLURM], size_codes(trace.jobs.gpus)),
        "orders": {
            name: figures(slurm, Pooled.of(schedules), codes, gain)
            for name, schedules in played.items()
        },
    }


def draws(trace: Trace) -> Iterator[Trace]:
    """The jobs as they are, and with run times that differ a little."""
    yield trace
    for number in range(1, DRAWS):
        factor = np.exp(np.random.default_rng(number).normal(0.0, APART, len(trace)))
        yield replace(trace, jobs=replace(trace.jobs, run=trace.jobs.run * factor))


def replays(
    trace: Trace, nodes: int, told: Mapping[str, Estimates], guarded: bool
) -> Iterator[tuple[str, Schedule]]:
    site = cluster(nodes)
    slurm = Run(trace, site, Policy(SLURM), told[SLURM]).replay()
    yield SLURM, slurm
    yield SHIPPED, Run(trace, site, Policy(SHIPPED), told[SHIPPED]).replay()
    for name in BETWEEN:
        yield name, Run(trace, site, Policy(name), told[SLURM]).replay()
    if guarded:
        ours = policy_named(SHIPPED)
        yield GUARDED, keep_promises(slurm, *ours, told[SHIPPED], Surroundings()).schedule


def figures(slurm: Pooled, ours: Pooled, codes: Ints, gain: float) -> dict[str, Any]:
    """How an order stands against Slurm's: mean wait, size classes, use."""
    tails = {
        SIZES[code]: (p95(slurm.wait[codes == code]), p95(ours.wait[codes == code]))
        for code in np.unique(codes)
        if np.sum(codes == code) >= PROMISES.least_jobs * DRAWS
    }
    grown = {name: change(*pair) for name, pair in tails.items()}
    worst = max(grown, key=lambda name: grown[name])
    apart = ours.used - slurm.used
    return {
        "wait_mean": float(ours.wait.mean()),
        "gain_kept": float(slurm.wait.mean() - ours.wait.mean()) / gain if gain else 0.0,
        "worst_class": worst,
        "worst_class_p95_change": grown[worst],
        "p95_by_class": tails,
        "broken": broken(tails, PROMISES),
        "near": broken(tails, replace(PROMISES, size_p95=MARGIN * PROMISES.size_p95)),
        "in_use": float(ours.used.mean()),
        "in_use_points": [100 * float(np.min(apart)), 100 * float(np.mean(apart))],
    }


def broken(tails: Mapping[str, tuple[float, float]], promises: Promises) -> list[str]:
    """The classes to which a promise is not kept."""
    return [
        name
        for name, (before, after) in tails.items()
        if after > promises.bound("size", "p95", before)
    ]


def against_itself(slurm: list[Schedule], codes: Ints) -> dict[str, tuple[float, float]]:
    """Of each size class, how its 95th percentile differs between draws: least and most."""
    found = {}
    for code in np.unique(codes):
        rows = codes == code
        if np.sum(rows) < PROMISES.least_jobs:
            continue
        first, *others = (p95(schedule.wait[rows]) for schedule in slurm)
        changes = [change(first, other) for other in others]
        found[SIZES[code]] = (min(changes), max(changes))
    return found


def chosen(orders: Mapping[str, Mapping[str, Any]]) -> str:
    """The shortest mean wait that keeps the promises with a margin; Slurm's order always does."""
    kept = [name for name in orders if not orders[name]["near"]]
    return min(kept, key=lambda name: orders[name]["wait_mean"])


def p95(waits: Floats) -> float:
    return float(np.percentile(waits, P95))


def change(before: float, after: float) -> float:
    """Of a wait; of less than a minute none is told."""
    return (after - before) / max(before, PROMISES.slack)


def used_while_jobs_came(schedule: Schedule) -> float:
    """Share of the cluster's GPU time between the first and the last submission."""
    jobs, ran = schedule.trace.jobs, schedule.ran
    first, last = float(jobs.submit[0]), float(jobs.submit[-1])
    held = np.minimum(schedule.end[ran], last) - np.minimum(schedule.start[ran], last)
    return float(jobs.gpus[ran] @ held) / (schedule.cluster.total_gpus * (last - first))
