"""How the live guardrail keeps promises, simulated with the daemon's own rules.

Every hour waits so far, those of waiting jobs included, are compared with those under Slurm's
order; while a size class has used up most of what it was allowed, Slurm's order rules
(`domain/protection.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cfunc, njit

from dovetail.compiled.functions import LazyFunction
from dovetail.domain.estimates import Estimates
from dovetail.domain.group_waits import group_waits
from dovetail.domain.job_groups import SIZE_BOUNDS, SIZES
from dovetail.domain.jobs import Floats
from dovetail.domain.policy import SCORE, Backfill, BackfillRule, Ordering, Placement, Varies
from dovetail.domain.promises import Finding, Promises
from dovetail.domain.protection import at_risk, rare_limits
from dovetail.domain.schedule import Schedule
from dovetail.policies.ordering import ORDERINGS
from dovetail.prediction import HISTORY
from dovetail.simulator.engine import Simulation

PROMISES = Promises(size_p95=0.1)
SLURM = "slurm-multifactor"
EVERY = 3600.0
CLASSES = len(SIZES)


class UncachedFunction(LazyFunction):
    """A score that closes over others: compiled anew in every run."""

    @property
    def pointer(self) -> Any:
        if not hasattr(self, "_compiled"):
            self._compiled = cfunc(self.signature, error_model="numpy")(self.function)
        return self._compiled


class Surroundings(NamedTuple):
    """Slurm's own order, what it lets pass, and how often the guardrail looks."""

    slurm: Ordering = ORDERINGS[SLURM]
    backfill: BackfillRule = Backfill.EASY
    every: float = EVERY
    events: int = 20  # of the replay, between which it is asked what time it is


def guarded(base: Ordering, slurm: Ordering) -> Ordering:
    """The ordering, in which jobs beyond the limit of their size class go first, by due date.

    Its first numbers are these limits; where the next is above 0, Slurm's own order rules.
    """
    ours = njit(base.score.function, error_model="numpy")
    theirs = njit(slurm.score.function, error_model="numpy")
    bounds = np.array(SIZE_BOUNDS, np.float64)
    first, second = CLASSES + 1, CLASSES + 1 + len(slurm.numbers())

    def score(p, jobs, accounts, demands, cluster, rows, out, gate, keep):  # type: ignore[no-untyped-def]
        if p[CLASSES] > 0.0:
            theirs(p[first:], jobs, accounts, demands, cluster, rows, out, gate, keep)
        else:
            ours(p[second:], jobs, accounts, demands, cluster, rows, out, gate, keep)
            for i in range(len(rows)):
                job = jobs[rows[i]]
                limit = p[np.searchsorted(bounds, float(job.gpus))]
                if cluster[0].now - job.submit > limit:
                    out[i] = -1e15 + job.submit + limit
                    gate[i] = keep[i] = 0.0

    begin = np.full(CLASSES, np.inf)
    return Ordering(
        f"{base.name} with promises",
        UncachedFunction(SCORE, score),
        Varies.ALWAYS,
        half_life=slurm.half_life,
        uses_prediction=base.uses_prediction,
        uses_state=True,
        weights=np.concatenate((begin, [0.0], slurm.numbers(), base.numbers())),
    )


class Kept(NamedTuple):
    """A replay with promises, and the share of looks after which Slurm's order ruled."""

    schedule: Schedule
    as_slurm: float


def keep_promises(
    slurm: Schedule,
    base: Ordering,
    placement: Placement,
    estimates: Estimates,
    around: Surroundings,
) -> Kept:
    """A replay in which the order follows from how the promises stand against `slurm`."""
    ordering = guarded(base, around.slurm)
    simulation = Simulation(
        slurm.trace, slurm.cluster, ordering, placement, around.backfill, estimates, HISTORY
    )
    jobs, numbers = slurm.trace.jobs, simulation.rules.parameters
    start, again = simulation.tables.runs["start"], float(jobs.submit[0]) + around.every
    risks: tuple[Finding, ...] = ()
    looks = yielded = 0
    while simulation.advance(around.events):
        now = float(simulation.tables.world["now"][0])
        if now < again:
            continue
        again = now + around.every
        so_far = jobs.take(slice(0, int(np.searchsorted(jobs.submit, now, "right"))))
        before, after = (_wait_by(now, so_far.submit, each) for each in (slurm.start, start))
        check = PROMISES.check(group_waits(so_far, before, after, ("size",)))
        risks = at_risk(check, risks)
        limits = rare_limits(PROMISES, so_far, before, after)
        numbers[:CLASSES] = [limits.get(("size", name), np.inf) for name in SIZES]
        numbers[CLASSES] = float(bool(risks))
        looks, yielded = looks + 1, yielded + bool(risks)
    return Kept(simulation.schedule(), yielded / max(1, looks))


def _wait_by(now: float, submit: Floats, start: Floats) -> Floats:
    """Waits as they stand: jobs that have not started count with what they have waited."""
    began = start[: len(submit)]
    waits: Floats = np.where(began <= now, began, now) - submit
    return waits
