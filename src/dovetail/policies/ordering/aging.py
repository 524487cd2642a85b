"""Orderings in which waiting itself counts: WFP3, UNICEP and Slurm's multifactor priority."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from dovetail.compiled.functions import inner
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import (
    AccountRows,
    ClusterRow,
    DemandRows,
    JobFacts,
    JobRows,
    Ordering,
    Varies,
    scoring,
)


@scoring
def _wfp3(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        ratio = (cluster[0].now - job.submit) / job.estimate
        out[i] = -(ratio * ratio * ratio) * job.size


@scoring
def _unicep(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        job = jobs[rows[i]]
        width = max(1.0, math.log2(job.size))  # log2(1) is 0: one GPU counts as two
        out[i] = -(cluster[0].now - job.submit) / (width * job.estimate)


@inner
def multifactor_priority(
    p: Floats, job: JobFacts, accounts: AccountRows, cluster: ClusterRow
) -> float:
    """By the numbers of `MultifactorWeights`; the highest goes first."""
    age = min(1.0, (cluster[0].now - job.submit) / p[5])
    return (
        p[0] * age
        + p[1] * accounts[job.account].fair_share
        + p[2] * (job.size / cluster[0].total_gpus)
        + p[3] * job.partition_factor
        + p[4] * job.qos_factor
    )


@scoring
def _multifactor(
    p: Floats, jobs: JobRows, accounts: AccountRows, demands: DemandRows, cluster: ClusterRow,
    rows: Ints, out: Floats, gate: Floats, keep: Floats,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        out[i] = -multifactor_priority(p, jobs[rows[i]], accounts, cluster)


@dataclass(frozen=True, slots=True)
class MultifactorWeights:
    """Slurm's PriorityWeight* and its two times, in the order that the score reads them."""

    age: float = 1000.0
    fair_share: float = 1000.0
    job_size: float = 1000.0
    partition: float = 1000.0
    qos: float = 1000.0
    max_age: float = 7 * 86_400.0  # seconds after which age no longer grows
    half_life: float = 7 * 86_400.0  # seconds in which past use counts half

    def __post_init__(self) -> None:
        if not all(math.isfinite(value) for value in asdict(self).values()):
            raise ConfigError("multifactor weights must be finite numbers")
        if self.max_age <= 0 or self.half_life <= 0:
            raise ConfigError("multifactor max_age and half_life must be above 0 seconds")


def slurm_multifactor(weights: MultifactorWeights | None = None) -> Ordering:
    """Slurm's priority/multifactor with fair-share charged in GPU time."""
    weights = weights or MultifactorWeights()
    return Ordering(
        "slurm-multifactor",
        _multifactor,
        # With age counting for a job, alike jobs of one account go in order of submission.
        varies=Varies.BETWEEN_ACCOUNTS if weights.age >= 0 else Varies.ALWAYS,
        parameters=asdict(weights),
        half_life=weights.half_life,
        about="Slurm's priority: age, fair share in GPU time, size, partition, QOS",
    )


WFP3 = Ordering(
    "wfp3",
    _wfp3,
    Varies.ALWAYS,
    about="−(w / e)³ · g: waiting in units of the own length, large jobs sooner",
)
UNICEP = Ordering(
    "unicep",
    _unicep,
    Varies.ALWAYS,
    about="−w / (max(1, log₂ g) · e): waiting, small and short jobs sooner",
)
MULTIFACTOR = slurm_multifactor()
