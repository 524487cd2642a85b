"""An index policy with learned weights: who goes next, what may pass, what is left free.

Every term is a logarithm or a yes or no, so that a weight has a meaning and the weights as they
stand are SAF. The job with the lowest index goes first:

    log(estimate) + gpus·log(GPUs) + nodes·log(nodes) + whole·(fills a node or more)
        - wait·log(1 + wait / 1 h) - slowdown·log(1 + wait / estimate)
        - fits·(could start now) + opens·(only on an idle node, a part of which it leaves unused)
        + spread·(half of log(90th / 10th percentile)) + skew·log(mean / log-mean)
        + margin·log(80th percentile / log-mean)

The last three are of the prediction, and 0 where it is one number: with `skew` 1 an order by the
log-mean goes by the mean, with `margin` 1 by the 80th percentile.

It may pass a reserved job only if

    gate + gate_estimate·log(estimate / 1 h) + gate_gpus·log(GPUs) >= 0

and it starts only if that leaves this share of the GPUs that it may use free, unless it has waited
for `patience` times its estimate:

    (keep + keep_idle·(only on an idle node ...)) / 100
        · clip((log(estimate / 1 h) - keep_from) / keep_span, 0, 1)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from dovetail.domain.errors import ConfigError
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
from dovetail.policies.ordering.learned import ALWAYS_FIRST

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class IndexWeights:
    """What is learned, in the order that the score reads it; as it stands, SAF."""

    gpus: float = 1.0
    nodes: float = 0.0
    whole: float = 0.0
    wait: float = 0.0
    slowdown: float = 0.0
    fits: float = 0.0
    opens: float = 0.0
    gate: float = 1.0
    gate_estimate: float = 0.0
    gate_gpus: float = 0.0
    keep: float = 0.0  # per cent
    keep_idle: float = 0.0  # per cent
    keep_from: float = 0.0
    keep_span: float = 2.0
    patience: float = 20.0
    spread: float = 0.0
    skew: float = 0.0
    margin: float = 0.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not math.isfinite(value):
                raise ConfigError(f"weight {name} is {value}, expected a finite number")
        if self.keep_span <= 0:
            raise ConfigError(f"weight keep_span is {self.keep_span}, expected more than 0")


NAMES = tuple(field.name for field in fields(IndexWeights))


@scoring
def _index(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    now = cluster[0].now
    unsure = p[15] != 0.0 or p[16] != 0.0 or p[17] != 0.0
    # Neighbours in a list ask for the same, and came together if one script submitted them: most
    # of the time here went into logarithms that the job before had just had.
    known_nodes, log_nodes = -1.0, 0.0
    known_wait, known_estimate, waited = -1.0, -1.0, 0.0
    for i in range(len(rows)):
        job = jobs[rows[i]]
        if job.exempt:
            out[i] = ALWAYS_FIRST + job.submit
            continue
        part = demands[job.demand]
        nodes = job.gpus * part.total_nodes / part.total_gpus
        wait = now - job.submit
        hours = job.log_estimate - math.log(HOUR)
        index = job.log_estimate + p[0] * job.log_gpus
        if nodes >= 1.0:
            if nodes != known_nodes:
                known_nodes, log_nodes = nodes, math.log(nodes)
            index += p[1] * log_nodes + p[2]
        if wait != known_wait or job.estimate != known_estimate:
            known_wait, known_estimate = wait, job.estimate
            waited = p[3] * math.log(1.0 + wait / HOUR) + p[4] * math.log(1.0 + wait / job.estimate)
        index -= waited
        if unsure:  # they lie apart from what else is read of a job
            index += p[15] * job.spread + p[16] * job.skew + p[17] * job.margin
        most = p[10]
        if part.fits:
            index -= p[5]
        if part.opens:
            index += p[6]
            most += p[11]
        out[i] = index
        gate[i] = p[7] + p[8] * hours + p[9] * job.log_gpus
        if wait < p[14] * job.estimate:
            share = min(1.0, max(0.0, (hours - p[12]) / p[13]))
            keep[i] = 0.01 * most * share * part.total_gpus


ORDER_ALONE = {"gate": 1.0, "gate_estimate": 0.0, "gate_gpus": 0.0, "keep": 0.0, "keep_idle": 0.0}
"""Weights with which every job may pass, and nothing is left free."""


def order_alone(ordering: Ordering) -> Ordering:
    """The same order alone: it says nothing of who may pass and what is left free.

    >>> free = index(IndexWeights(keep=3.0))
    >>> order_alone(free).parameters["keep"], order_alone(free).name
    (0.0, 'index')

    Of an ordering that has none of these, itself.
    """
    if ordering.score is not _index:
        return ordering
    return index(IndexWeights(**{**ordering.parameters, **ORDER_ALONE}), ordering.name)


def index(weights: IndexWeights, name: str = "index") -> Ordering:
    """The ordering with these weights."""
    parameters: Mapping[str, float] = asdict(weights)
    return Ordering(name, _index, Varies.ALWAYS, parameters, uses_state=True)
