"""What keeping promises costs: the policy alone, with promises as the guardrail keeps them, Slurm.

The guardrail is simulated: every twelve hours waits so far are compared with those under Slurm's
order, jobs that still wait included, and jobs of a size class in breach go first after
`protection.PART` of the class's 95th percentile under Slurm.

That part was chosen on Philly and Venus, so these say nothing about the choice. PAI and two logs of
the Parallel Workloads Archive, with processors for GPUs and the users' own limits, had no say in
it; of the longer ones the first `MOST_JOBS` jobs, to be done in minutes.
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
from dovetail.domain.policy import SCORE, Backfill, Ordering, Varies
from dovetail.domain.promises import Promises
from dovetail.domain.protection import wait_limits
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.evaluation.run import Run
from dovetail.policies.policy import Policy, policy_named
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator.engine import Simulation
from dovetail.traces.read import read_trace

PROMISES = Promises(size_p95=0.1)
EVERY = 12 * 3600.0
POLICIES = ("dovetail", "saf")
MOST_JOBS = 40_000
REQUIRED = 0.8
"""Of the gain in mean wait, that is to be kept."""
ALIKE = 0.0005
"""A twentieth of a per cent of all GPU time: less is no difference in utilisation."""
CLASSES = len(SIZES)


class Held(NamedTuple):
    """A trace, its cluster, what is known of run times, and whether it had a say in the choice."""

    file: str
    nodes: int
    estimates: str
    held_out: bool


TRACES = {
    "pai": Held(REAL["pai"][0], REAL["pai"][1], "noisy:1", True),
    "kth": Held("pwa_kth_sp2_1996.parquet", 13, "limit", True),
    "lanl": Held("pwa_lanl_cm5_1994.parquet", 128, "limit", True),
    "venus": Held(REAL["venus"][0], REAL["venus"][1], "noisy:1", False),
    "philly": Held(REAL["philly"][0], REAL["philly"][1], "noisy:1", False),
}


class UncachedFunction(LazyFunction):
    """A score that closes over another: compiled anew in every run."""

    @property
    def pointer(self) -> Any:
        if not hasattr(self, "_compiled"):
            self._compiled = cfunc(self.signature, error_model="numpy")(self.function)
        return self._compiled


def with_limits(base: Ordering) -> Ordering:
    """The ordering, in which jobs beyond the limit of their size class go first, by due date."""
    inside = njit(base.score.function, error_model="numpy")
    bounds = np.array(SIZE_BOUNDS, np.float64)

    def score(p, jobs, accounts, demands, cluster, rows, out, gate, keep):  # type: ignore[no-untyped-def]
        inside(p[CLASSES:], jobs, accounts, demands, cluster, rows, out, gate, keep)
        for i in range(len(rows)):
            job = jobs[rows[i]]
            limit = p[np.searchsorted(bounds, float(job.gpus))]
            if cluster[0].now - job.submit > limit:
                out[i] = -1e15 + job.submit + limit
                gate[i] = keep[i] = 0.0

    return Ordering(
        f"{base.name} with promises",
        UncachedFunction(SCORE, score),
        Varies.ALWAYS,
        half_life=base.half_life,
        uses_prediction=base.uses_prediction,
        uses_state=True,
        weights=np.concatenate((np.full(CLASSES, np.inf), base.numbers())),
    )


def keep_promises(slurm: Schedule, policy: str, estimates: Estimates) -> Schedule:
    """A replay in which the limits follow from how the promises stand."""
    base, placement = policy_named(policy)
    simulation = Simulation(
        slurm.trace, slurm.cluster, with_limits(base), placement, Backfill.EASY, estimates, HISTORY
    )
    jobs, limits = slurm.trace.jobs, simulation.rules.parameters[:CLASSES]
    start, again = simulation.tables.runs["start"], float(jobs.submit[0]) + EVERY
    while simulation.advance(20):
        now = float(simulation.tables.world["now"][0])
        if now < again:
            continue
        again = now + EVERY
        so_far = jobs.take(slice(0, int(np.searchsorted(jobs.submit, now, "right"))))
        waits = [_wait_by(now, so_far.submit, each) for each in (slurm.start, start)]
        groups = group_waits(so_far, waits[0], waits[1], ("size",))
        found = wait_limits(PROMISES.check(groups))
        limits[:] = [found.get(("size", name), np.inf) for name in SIZES]
    return simulation.schedule()


def _wait_by(now: float, submit: Floats, start: Floats) -> Floats:
    """Waits as they stand: jobs that have not started count with what they have waited."""
    began = start[: len(submit)]
    waits: Floats = np.where(began <= now, began, now) - submit
    return waits


def used_while_jobs_came(schedule: Schedule) -> float:
    """The share of GPU time in use between the first submission and the last."""
    jobs, ran = schedule.trace.jobs, schedule.ran
    last = float(jobs.submit[-1])
    held = np.minimum(schedule.end[ran], last) - np.minimum(schedule.start[ran], last)
    whole = schedule.cluster.total_gpus * (last - float(jobs.submit[0]))
    return float(np.sum(held * jobs.gpus[ran])) / whole


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
        "utilisation_while_jobs_came": used_while_jobs_came(schedule),
        "p95_by_class": {group.name: [group.baseline_p95, group.p95] for group in groups},
    }


def goal(slurm: dict[str, Any], alone: dict[str, Any], ours: dict[str, Any]) -> dict[str, bool]:
    """What of the goal is met; where the policy alone gains nothing, whether promises still do."""
    gain = slurm["wait_mean"] - alone["wait_mean"]
    saved = slurm["wait_mean"] - ours["wait_mean"]
    used = "utilisation_while_jobs_came"
    return {
        "policy_alone_gains": gain > 0,
        "gain": saved >= REQUIRED * gain if gain > 0 else saved > 0,
        "classes": not ours["broken"],
        "utilisation": ours[used] >= slurm[used] - ALIKE,
    }


def run() -> dict[str, Any]:
    found: dict[str, Any] = {"promises": "size_p95=10%, slack 60 s", "most_jobs": MOST_JOBS}
    for name, held in TRACES.items():
        path = folder() / held.file
        if path.exists():
            found[name] = _measure(name, held, read_trace(path, repair=("all",)))
    return found


def _measure(name: str, held: Held, trace: Trace) -> dict[str, Any]:
    trace = trace.slice(0, min(len(trace), MOST_JOBS))
    site, estimates = cluster(held.nodes), make_estimates(trace, held.estimates, 1)
    slurm = Run(trace, site, Policy("slurm-multifactor"), estimates).replay()
    rows: dict[str, Any] = {
        "jobs": len(trace),
        "estimates": held.estimates,
        "held_out": held.held_out,
        "slurm-multifactor": figures(slurm, slurm, 0.0),
    }
    for policy in POLICIES:
        alone = Run(trace, site, Policy(policy), estimates).replay()
        gain = summary(slurm)["wait_mean"] - summary(alone)["wait_mean"]
        kept = keep_promises(slurm, policy, estimates)
        rows[policy] = figures(slurm, alone, gain)
        rows[f"{policy} with promises"] = ours = figures(slurm, kept, gain)
        ours["goal"] = goal(rows["slurm-multifactor"], rows[policy], ours)
        print(name, policy, ours, flush=True)
    return rows
