"""WFP3 and UNICEP with the sign error of the published code, for the comparison with its tables.

RLScheduler, SchedInspector and RLTune compute a waiting job's wait as scheduled time − submit
time while the scheduled time is still −1. The wait is therefore −1 − submit: it never grows, its
sign is wrong, and long jobs go first. The product's own are in policies/ordering/aging.py.
"""

from __future__ import annotations

import math

from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import (
    AccountRows,
    ClusterRow,
    DemandRows,
    JobRows,
    Ordering,
    scoring,
)

NOT_SCHEDULED = -1.0
TINY = 1e-15
"""Added there to keep log2(1) from dividing by 0; serial jobs so go last."""


@scoring
def _wfp3_as_published(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        ratio = (NOT_SCHEDULED - job.submit) / job.estimate
        out[i] = -(ratio * ratio * ratio) * job.gpus


@scoring
def _unicep_as_published(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        wait = NOT_SCHEDULED - job.submit
        out[i] = -(wait + TINY) / (math.log2(job.gpus + TINY) * job.estimate)


WFP3_AS_PUBLISHED = Ordering("WFP3 as published", _wfp3_as_published)
UNICEP_AS_PUBLISHED = Ordering("UNICEP as published", _unicep_as_published)
