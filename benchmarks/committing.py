"""Scheduling as RLScheduler's simulator has it: a job once chosen is waited for, come what may.

Processors are a number, there is no backfilling, and exact run times are known. It serves to tell
how much of the distance to published figures lies in this rule.
"""

from __future__ import annotations

import heapq

import numpy as np

from dovetail.compiled.tables import new_table
from dovetail.domain.jobs import Floats
from dovetail.domain.policy import AccountFacts, ClusterFacts, JobFacts, Ordering
from dovetail.domain.trace import Trace
from dovetail.testing.scores import scores


def committed_waits(trace: Trace, processors: int, ordering: Ordering) -> Floats:
    """Seconds that every job waits."""
    jobs = trace.jobs
    facts, accounts, cluster = (
        new_table(JobFacts, len(jobs)),
        new_table(AccountFacts, 1),
        new_table(ClusterFacts, 1),
    )
    facts["submit"], facts["gpus"] = jobs.submit, jobs.gpus
    facts["estimate"] = np.maximum(jobs.run, 1.0)
    cluster["origin"], cluster["total_gpus"] = jobs.submit[0], processors
    waits = np.zeros(len(jobs))
    running: list[tuple[float, int]] = []  # end, processors
    queue: list[int] = []
    free, now, submitted = processors, 0.0, 0
    while queue or submitted < len(jobs):
        if not queue:
            now = max(now, float(jobs.submit[submitted]))
        while submitted < len(jobs) and jobs.submit[submitted] <= now:
            queue.append(submitted)
            submitted += 1
        cluster["now"] = now
        chosen = queue.pop(int(np.argmin(scores(ordering, facts[queue], accounts, cluster))))
        while running and (running[0][0] <= now or free < jobs.gpus[chosen]):
            end, released = heapq.heappop(running)
            now, free = max(now, end), free + released
        waits[chosen] = now - jobs.submit[chosen]
        free -= int(jobs.gpus[chosen])
        heapq.heappush(running, (now + float(jobs.run[chosen]), int(jobs.gpus[chosen])))
    return waits
