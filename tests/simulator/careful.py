"""An ordering for tests: SAF, where long jobs may not pass and have to leave GPUs free."""

from __future__ import annotations

from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import (
    AccountRows,
    ClusterRow,
    DemandRows,
    JobRows,
    Ordering,
    Varies,
    scoring,
)


@scoring
def _careful(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        out[i] = job.size * job.estimate
        gate[i] = -1.0 if job.estimate > 8 * job.gpus else 1.0
        keep[i] = 3.0 if job.estimate > 15 else 0.0


CAREFUL = Ordering("careful", _careful, Varies.ALWAYS)
