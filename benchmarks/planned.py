"""Speed of backfilling that plans or promises every job, in processor time: RICC by users' limits.

python -m benchmarks.run planned
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks.demands import RICC_MEMORY, RICC_NODES, play, site
from benchmarks.simulator import queue_depth
from benchmarks.workloads import folder
from dovetail.domain.policy import Backfill, BackfillRule, SlurmBackfill
from dovetail.traces.reader import read_trace

CASES: dict[BackfillRule, dict[int, int]] = {
    SlurmBackfill(): {5_000: 3, 20_000: 3, 100_000: 3},
    Backfill.CONSERVATIVE: {5_000: 3, 20_000: 3, 40_000: 1, 100_000: 1},
}
"""Jobs from the trace's start, and runs. Two of the first 40,000 jobs have no limit: they get the
longest. The last takes minutes."""


def run(say: Callable[[str], None] = print) -> dict[str, Any]:
    path = folder() / "pwa_ricc_2010.parquet"
    if not path.exists():
        return {"ricc": []}
    whole, nodes, rows = read_trace(path, repair=("all",)), site(RICC_NODES, RICC_MEMORY), []
    for backfill, lengths in CASES.items():
        play(whole.slice(0, 50), nodes, "fcfs", backfill, "limit")  # compile
        for jobs, repeats in lengths.items():
            trace, rates = whole.slice(0, jobs), []
            for _ in range(repeats):
                before = time.process_time()
                schedule = play(trace, nodes, "fcfs", backfill, "limit")
                rates.append(jobs / (time.process_time() - before))
            mean, most = queue_depth(schedule)
            rows.append(
                {
                    "order": "fcfs",
                    "backfill": backfill.value,
                    "jobs": jobs,
                    "runs": repeats,
                    "jobs_per_processor_second_median": round(statistics.median(rates)),
                    "waiting_mean": round(mean, 1),
                    "waiting_most": most,
                }
            )
            say(
                f"RICC fcfs {backfill.value}, {jobs:,} jobs: "
                f"{statistics.median(rates):,.0f} jobs/s, {mean:.1f} waiting"
            )
    return {"ricc": rows}
