"""The ordering of a learned selector: the job with the highest logit is admitted, or all wait.

A job whose logit is below that of waiting does not start, unless all nodes that it may use are
idle: what may not even start there never would.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

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
from dovetail.policies.ordering.kernel_network import network_weights, write_logits
from dovetail.policies.ordering.learned import spare_exempt

EVERYTHING = 1e15
"""GPUs to be left free: more than any cluster has."""


@scoring
def _selector(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    write_logits(p, jobs, accounts, demands, cluster, rows, out)
    wait = p[len(p) - 1]
    for i in range(len(rows)):
        if out[i] < wait and not jobs[rows[i]].exempt:
            keep[i] = EVERYTHING
        out[i] = -out[i]
    spare_exempt(jobs, rows, out, gate)


def selector(arrays: Mapping[str, NDArray[Any]], name: str) -> Ordering:
    """An ordering from the arrays of a kernel network; "decline" there is "wait" here."""
    weights = network_weights(arrays, name)
    return Ordering(name, _selector, Varies.ALWAYS, uses_state=True, weights=weights)
