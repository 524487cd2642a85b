"""The promises of the Slurm experiment with a twin that is never wrong, in the simulator alone.

    python -m benchmarks.run slurm_promises

The jobs of `benchmarks/slurm_jobs.py` as drawn; the simulator stands for the cluster and, as its
own twin, knows exactly what Slurm alone would have done. What the goal is missed by here is missed
by the rules of `domain/protection.py`; what a real Slurm misses besides is the twin's share.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.promises import POLICY, Surroundings, keep_promises
from benchmarks.slurm import COUNT, SEEDS
from benchmarks.slurm_jobs import Work, draw, trace_of
from benchmarks.slurm_measures import changes, measures, observed
from benchmarks.slurm_site import cluster
from dovetail.domain.estimates import Estimates
from dovetail.live.twin.order import slurm_order
from dovetail.live.twin.watch import CHECK
from dovetail.policies.ordering.index import order_alone
from dovetail.policies.policy import Policy, policy_named
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate


def run() -> dict[str, Any]:
    """Slurm alone, order alone and with promises, for every seed."""
    return {"jobs": COUNT, "seeds": {str(seed): compared(draw(seed, COUNT)) for seed in SEEDS}}


def compared(jobs: tuple[Work, ...]) -> dict[str, Any]:
    trace, site = trace_of(jobs), cluster()
    limits = Estimates("limit", trace.jobs.limit)
    # The daemon goes by predictions; Slurm itself plans with the users' limits.
    told = make_estimates(trace, Policy(POLICY).told("predicted"))
    told = replace(told, reserve=trace.jobs.limit)
    order, (base, placement) = slurm_order(site), policy_named(POLICY)
    base = order_alone(base)
    slurm = simulate(trace, site, order.ordering, order.placement, order.backfill, limits, HISTORY)
    alone = simulate(trace, site, base, placement, order.backfill, told, HISTORY)
    around = Surroundings(order.ordering, order.backfill, CHECK, events=5)
    kept = keep_promises(slurm, base, placement, told, around)
    found = {
        name: measures(observed(schedule), jobs)
        for name, schedule in (("slurm", slurm), ("dovetail", alone), ("promises", kept.schedule))
    }
    gain = found["slurm"]["wait_mean"] - found["dovetail"]["wait_mean"]
    saved = found["slurm"]["wait_mean"] - found["promises"]["wait_mean"]
    return {
        **found,
        "change": {side: changes(found[side], found["slurm"]) for side in ("dovetail", "promises")},
        "gain_kept": saved / gain,
        "as_slurm": kept.as_slurm,
    }
