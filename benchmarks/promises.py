"""What keeping promises costs: the policy alone, with promises as the guardrail keeps them, Slurm.

    python -m benchmarks.run promises

The guardrail is simulated with the daemon's own rules (`domain/protection.py`): every hour waits so
far, those of waiting jobs included, are compared with those under Slurm's order. While a size
class has used up most of what it was allowed, Slurm's order rules. The shipped policy with
predicted run times, as the daemon has it; EASY; of the longer traces `MOST_JOBS` jobs. Utilisation
is compared over days drawn anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cfunc, njit

from benchmarks.workloads import REAL, cluster, folder
from dovetail.compiled.functions import LazyFunction
from dovetail.domain.estimates import Estimates
from dovetail.domain.group_waits import group_waits
from dovetail.domain.job_groups import SIZE_BOUNDS, SIZES
from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import summary
from dovetail.domain.policy import SCORE, Backfill, BackfillRule, Ordering, Placement, Varies
from dovetail.domain.promises import Finding, Promises
from dovetail.domain.protection import at_risk, rare_limits
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.evaluation.run import Run
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.policy import Policy, policy_named
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator.engine import Simulation
from dovetail.traces.reader import read_trace

PROMISES = Promises(size_p95=0.1)
POLICY, SLURM = "dovetail", "slurm-multifactor"
EVERY = 3600.0
MOST_JOBS = 40_000
REQUIRED = 0.8
"""Of the gain in mean wait, that is to be kept."""
DAY, DRAWS = 86_400.0, 2000
CLASSES = len(SIZES)


class Held(NamedTuple):
    """A trace and its cluster, and whether the rules were chosen by looking at it."""

    file: str
    nodes: int
    held_out: bool


TRACES = {
    "philly": Held(REAL["philly"][0], REAL["philly"][1], False),
    "venus": Held(REAL["venus"][0], REAL["venus"][1], False),
    "kth": Held("pwa_kth_sp2_1996.parquet", 13, False),
    "pai": Held(REAL["pai"][0], REAL["pai"][1], False),
    "lanl": Held("pwa_lanl_cm5_1994.parquet", 128, True),
    "philly, later": Held(REAL["philly"][0], REAL["philly"][1], True),
    "venus, later": Held(REAL["venus"][0], REAL["venus"][1], True),
}
"""`later`: the last `MOST_JOBS` jobs of the file."""


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


def used_by_day(schedule: Schedule) -> Floats:
    """GPU seconds in use on each day on which jobs came."""
    jobs, ran = schedule.trace.jobs, schedule.ran
    first, last = float(jobs.submit[0]), float(jobs.submit[-1])
    edges = np.arange(first, last + DAY, DAY)
    edges[-1] = last
    start, end, gpus = schedule.start[ran], schedule.end[ran], jobs.gpus[ran]
    held = [np.sum(gpus * (np.minimum(end, edge) - np.minimum(start, edge))) for edge in edges]
    return np.diff(np.array(held))


def utilisation(slurm: Schedule, ours: Schedule) -> dict[str, Any]:
    """While jobs came: of both, the difference in points, and its interval over days."""
    jobs = slurm.trace.jobs
    whole = slurm.cluster.total_gpus * (float(jobs.submit[-1]) - float(jobs.submit[0]))
    before, after = used_by_day(slurm), used_by_day(ours)
    apart = (after - before) * 100 / whole
    draw = np.random.default_rng(0).integers(0, len(apart), (DRAWS, len(apart)))
    low, high = np.percentile(apart[draw].sum(axis=1), (2.5, 97.5)).tolist()
    return {
        "slurm": float(before.sum()) / whole,
        "ours": float(after.sum()) / whole,
        "points": float(apart.sum()),
        "points_interval": [low, high],
    }


def figures(slurm: Schedule, schedule: Schedule, gain: float) -> dict[str, Any]:
    metrics, before = summary(schedule), summary(slurm)
    groups = group_waits(slurm.trace.jobs, slurm.wait, schedule.wait, ("size",))
    judged = [group for group in groups if group.jobs >= PROMISES.least_jobs]
    worst = max(judged, key=lambda group: group.p95_change)
    return {
        "wait_mean": metrics["wait_mean"],
        "wait_p95": metrics["wait_p95"],
        "gain_kept": (before["wait_mean"] - metrics["wait_mean"]) / gain if gain else 0.0,
        "worst_class": worst.name,
        "worst_class_p95_change": worst.p95_change,
        "broken": [str(finding) for finding in PROMISES.check(groups).broken],
        "utilisation_to_last_end": metrics["gpu_utilization"],
        "utilisation_while_jobs_came": utilisation(slurm, schedule),
        "p95_by_class": {group.name: [group.baseline_p95, group.p95] for group in groups},
    }


def goal(slurm: dict[str, Any], alone: dict[str, Any], ours: dict[str, Any]) -> dict[str, bool]:
    """What of the goal is met; where the policy alone gains nothing, whether promises still do."""
    gain = slurm["wait_mean"] - alone["wait_mean"]
    saved = slurm["wait_mean"] - ours["wait_mean"]
    return {
        "policy_alone_gains": gain > 0,
        "gain": saved >= REQUIRED * gain if gain > 0 else saved > 0,
        "classes": not ours["broken"],
        # Not below by more than what days drawn anew make it swing.
        "utilisation": ours["utilisation_while_jobs_came"]["points_interval"][1] >= 0,
    }


def run() -> dict[str, Any]:
    found: dict[str, Any] = {"promises": "size_p95=10%, slack 60 s", "most_jobs": MOST_JOBS}
    for name, held in TRACES.items():
        path = folder() / held.file
        if path.exists():
            trace = read_trace(path, repair=("all",))
            first = max(0, len(trace) - MOST_JOBS) if name.endswith("later") else 0
            found[name] = _measure(
                name, held, trace.slice(first, min(len(trace), first + MOST_JOBS))
            )
    return found


def _measure(name: str, held: Held, trace: Trace) -> dict[str, Any]:
    site, told = cluster(held.nodes), Policy(POLICY).told("predicted")
    estimates = make_estimates(trace, told)
    slurm = Run(trace, site, Policy(SLURM), estimates).replay()
    alone = Run(trace, site, Policy(POLICY), estimates).replay()
    gain = summary(slurm)["wait_mean"] - summary(alone)["wait_mean"]
    kept = keep_promises(slurm, *policy_named(POLICY), estimates, Surroundings())
    rows = {
        "slurm": figures(slurm, slurm, 0.0),
        "alone": figures(slurm, alone, gain),
        "with promises": figures(slurm, kept.schedule, gain) | {"as_slurm": kept.as_slurm},
    }
    rows["with promises"]["goal"] = goal(*rows.values())
    print(name, rows["alone"]["wait_mean"], rows["with promises"], flush=True)
    return {"jobs": len(trace), "estimates": told, "held_out": held.held_out, **rows}
