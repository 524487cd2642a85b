"""Speed of backfilling that plans or promises every job, in processor time: RICC with memory.

python -m benchmarks.run planned
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.demands import RICC_MEMORY, RICC_NODES, play, site
from benchmarks.simulator import queue_depth
from benchmarks.workloads import folder
from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill, BackfillRule, SlurmBackfill
from dovetail.domain.trace import Trace
from dovetail.prediction.estimates import make_estimates
from dovetail.traces.reader import read_trace


@dataclass(frozen=True, slots=True)
class Case:
    """What is replayed, and how often by its length: jobs from the trace's start."""

    backfill: BackfillRule
    order: str
    told: str  # estimates; two of the first 40,000 jobs have no limit: they get the longest
    runs: dict[int, int] = field(
        default_factory=lambda: {5_000: 3, 20_000: 3, 40_000: 1, 100_000: 1}
    )


CASES = (
    Case(SlurmBackfill(), "fcfs", "limit", {5_000: 3, 20_000: 3, 100_000: 3}),
    Case(Backfill.CONSERVATIVE, "fcfs", "limit"),
    Case(Backfill.CONSERVATIVE, "fcfs", "exact"),
    Case(Backfill.CONSERVATIVE, "fcfs", "predicted"),
    Case(Backfill.CONSERVATIVE, "saf", "limit"),
    Case(Backfill.CONSERVATIVE, "saf", "exact"),
    Case(Backfill.CONSERVATIVE, "saf", "predicted"),
)
"""The longest take minutes each."""


def run(say: Callable[[str], None] = print) -> dict[str, Any]:
    path = folder() / "pwa_ricc_2010.parquet"
    if not path.exists():
        return {"ricc": []}
    whole, nodes, rows = read_trace(path, repair=("all",)), site(RICC_NODES, RICC_MEMORY), []
    for case in CASES:
        play(whole.slice(0, 50), nodes, case.order, case.backfill, case.told)  # compile
        for jobs, runs in case.runs.items():
            row = measure(case, whole.slice(0, jobs), nodes, runs)
            rows.append(row)
            say(
                f"RICC {case.order} {case.backfill.value} by {case.told}, {jobs:,} jobs: "
                f"{row['jobs_per_processor_second_median']:,} jobs/s, "
                f"{row['waiting_mean']:.1f} waiting"
            )
    return {"ricc": rows}


def measure(case: Case, trace: Trace, nodes: Cluster, runs: int) -> dict[str, Any]:
    """One row; what is told is made before the clock begins."""
    told, rates = make_estimates(trace, case.told), []
    for _ in range(runs):
        before = time.process_time()
        schedule = play(trace, nodes, case.order, case.backfill, told)
        rates.append(len(trace) / (time.process_time() - before))
    mean, most = queue_depth(schedule)
    return {
        "order": case.order,
        "backfill": case.backfill.value,
        "estimates": case.told,
        "jobs": len(trace),
        "runs": runs,
        "jobs_per_processor_second_median": round(statistics.median(rates)),
        "waiting_mean": round(mean, 1),
        "waiting_most": most,
    }
