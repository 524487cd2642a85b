"""Start times by counting processors alone, for orderings of the registry."""

from __future__ import annotations

import math

from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.policy import Backfill, Varies
from dovetail.domain.trace import Trace
from dovetail.policies.ordering import ORDERINGS
from dovetail.prediction import HISTORY
from tests.oracles import counting
from tests.oracles.answers import FromHistory
from tests.oracles.ordering import Moment, score
from tests.oracles.shapes import Job, jobs_of

STATIC = [name for name, ordering in ORDERINGS.items() if ordering.varies is Varies.NEVER]
WAYS = {
    Backfill.NONE: counting.start_in_order,
    Backfill.EASY: counting.easy,
    Backfill.CONSERVATIVE: counting.conservative,
}


class Order:
    """An ordering of the registry, by the formula that the tests have of it."""

    def __init__(
        self, name: str, trace: Trace, jobs: list[Job], cluster: Cluster, seconds: list[float]
    ) -> None:
        self.name, self.cluster, self.seconds, self.jobs = name, cluster, seconds, jobs
        self.history = FromHistory(HISTORY, trace) if name == "qssf" else None

    def score(self, row: int) -> float:
        job = self.jobs[row]
        moment = Moment(job.submit, self.jobs[0].submit, self.cluster, {}, None)
        predicted = math.nan if self.history is None else self.history.predict(row)
        return score(self.name, job, max(1.0, self.seconds[row]), predicted, moment)

    def observe(self, row: int) -> None:
        if self.history is not None:
            self.history.observe(row, self.jobs[row].run)


def counted(
    trace: Trace, cluster: Cluster, ordering: str, backfill: Backfill, estimates: Estimates
) -> list[float]:
    """The start times by counting alone."""
    seconds, rows = estimates.seconds.tolist(), jobs_of(trace, cluster)
    jobs = [
        counting.Job(job.row, job.submit, job.run, max(1.0, seconds[job.row]), job.gpus)
        for job in rows
    ]
    order = Order(ordering, trace, rows, cluster, seconds)
    return counting.simulate(jobs, cluster.total_gpus, WAYS[backfill], order)
