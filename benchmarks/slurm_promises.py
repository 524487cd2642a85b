"""The promises of the Slurm experiment with a twin that is never wrong, in the simulator alone.

    python -m benchmarks.run slurm_promises

The jobs of `benchmarks/slurm_jobs.py` as drawn; the simulator stands for the cluster and, as its
own twin, knows exactly what Slurm alone would have done. What the goal is missed by here is missed
by the rules and by the orders; what a real Slurm misses besides is the twin's share. Each seed is
replayed several times with run times that differ by 1 %, as in `benchmarks/promises.py`: of 500
jobs hardly thirty are of the largest class, and which of them waits longest is chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.promise_keeping import SLURM, Surroundings, keep_promises
from benchmarks.promises import (
    DRAWS,
    GUARDED,
    SHIPPED,
    Pooled,
    against_itself,
    draws,
    figures,
)
from benchmarks.slurm import COUNT, SEEDS
from benchmarks.slurm_jobs import draw, trace_of
from benchmarks.slurm_site import cluster
from dovetail.agents.choice.candidates import BETWEEN
from dovetail.domain.estimates import Estimates
from dovetail.domain.job_groups import size_codes
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.live.twin.order import slurm_order
from dovetail.live.twin.watch import CHECK
from dovetail.policies.ordering.index import order_alone
from dovetail.policies.policy import Policy, policy_named
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate


def run() -> dict[str, Any]:
    """Every order against Slurm alone, for each seed and over all."""
    played: dict[str, dict[str, list[Schedule]]] = {}
    for seed in SEEDS:
        orders = played.setdefault(str(seed), {})
        for trace in draws(trace_of(draw(seed, COUNT))):
            for name, schedule in replays(trace):
                orders.setdefault(name, []).append(schedule)
    whole = {
        name: [schedule for orders in played.values() for schedule in orders[name]]
        for name in (SLURM, SHIPPED, GUARDED, *BETWEEN)
    }
    return {
        "jobs": COUNT,
        "draws": DRAWS,
        "slurm_against_itself": {
            seed: against_itself(orders[SLURM], size_codes(orders[SLURM][0].trace.jobs.gpus))
            for seed, orders in played.items()
        },
        "seeds": {seed: compared(orders) for seed, orders in played.items()},
        "all": compared(whole),
    }


def compared(orders: dict[str, list[Schedule]]) -> dict[str, Any]:
    slurm = Pooled.of(orders[SLURM])
    gain = float(slurm.wait.mean() - Pooled.of(orders[SHIPPED]).wait.mean())
    codes = np.concatenate([size_codes(one.trace.jobs.gpus) for one in orders[SLURM]])
    return {name: figures(slurm, Pooled.of(each), codes, gain) for name, each in orders.items()}


def replays(trace: Trace) -> Iterator[tuple[str, Schedule]]:
    site = cluster()
    limits, order = Estimates("limit", trace.jobs.limit), slurm_order(site)
    # The daemon goes by predictions; Slurm itself plans with the users' limits.
    told = make_estimates(trace, Policy(SHIPPED).told("predicted"))
    told = replace(told, reserve=trace.jobs.limit)
    slurm = simulate(trace, site, order.ordering, order.placement, order.backfill, limits, HISTORY)
    yield SLURM, slurm
    for name in (SHIPPED, *BETWEEN):
        ordering, placement = policy_named(name)
        yield (
            name,
            simulate(trace, site, order_alone(ordering), placement, order.backfill, told, HISTORY),
        )
    ordering, placement = policy_named(SHIPPED)
    around = Surroundings(order.ordering, order.backfill, CHECK, events=5)
    yield GUARDED, keep_promises(slurm, order_alone(ordering), placement, told, around).schedule
