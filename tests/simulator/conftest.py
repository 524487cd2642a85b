"""Both simulators behind one call, so that every hand-worked case checks both."""

from __future__ import annotations

import pytest

from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill
from tests.builders import JobRow, cluster_of, estimates_of, trace_of
from tests.oracles.simulator import Answer
from tests.oracles.simulator import simulate as play
from tests.simulator.runs import Affinity, Run, compiled


@pytest.fixture(params=["oracle", "compiled"])
def run(request: pytest.FixtureRequest) -> Run:
    """The plain-Python simulator and the compiled one."""

    def simulate(
        cluster: Cluster | str,
        *rows: JobRow,
        ordering: str = "fcfs",
        placement: str = "first-available",
        backfill: Backfill = Backfill.NONE,
        affinity: Affinity | None = None,
    ) -> Answer:
        site = cluster_of(cluster) if isinstance(cluster, str) else cluster
        trace, estimates = trace_of(*rows), estimates_of(*rows)
        if request.param == "compiled":
            return compiled(trace, site, ordering, placement, backfill, estimates, affinity)
        seconds = estimates.seconds.tolist()
        return play(trace, site, ordering, placement, backfill, seconds, affinity)

    return simulate
