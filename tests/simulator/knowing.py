"""An ordering for tests that goes by all that is known beside estimates: forecasts, and use."""

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
def _knowing(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    held, free_in = cluster[0].held, cluster[0].free_in
    for i in range(len(rows)):
        job = jobs[rows[i]]
        late = job.skew if held > free_in else job.margin
        out[i] = job.size * job.estimate * (1.0 + job.spread) + 10.0 * late
        gate[i] = free_in - job.estimate


KNOWING = Ordering("knowing", _knowing, Varies.ALWAYS, uses_state=True)
