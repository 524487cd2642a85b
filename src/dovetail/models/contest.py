"""Champion against challenger on recent days that neither was trained on, replayed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Bools, Floats, Jobs
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.evaluation.run import simulate
from dovetail.evaluation.statistics import Interval, ratio_of_means
from dovetail.evaluation.unseen import first_unseen
from dovetail.policies.policy import PolicyLike

DAY = 86_400.0
LONGEST = 60 * DAY
"""Without a limit: a job that ran longer is a broken record."""

GRACE = 3600.0
"""Seconds beyond its limit that Slurm may let a job end in (KillWait, epilogs); doubled limits are
allowed for, too, since administrators extend them."""


class ContestVerdict(Enum):
    """What came of it."""

    WON = "won"
    NOT_BETTER = "not better"
    BREAKS_PROMISE = "breaks a promise"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class ContestConfig:
    """What a challenger must show."""

    least_days: int = 5  # with jobs, held back
    confidence: float = 0.95  # that its mean wait is shorter
    tail_promise: float = 1.1  # times the champion's 99th percentile of waits, at most
    absurd_share: float = 0.001  # of jobs with impossible run times, at most
    estimates: str | None = None  # what both are told; None: limits, or predictions

    def __post_init__(self) -> None:
        if self.least_days < 2 or not 0 < self.confidence < 1 or self.tail_promise < 1:
            raise ConfigError(
                "a contest needs 2 days, a confidence below 1, a promise of 1 or more"
            )


@dataclass(frozen=True, slots=True)
class Contest:
    """The outcome, with what it rests on."""

    verdict: ContestVerdict
    reason: str
    days: int = 0
    wait: Interval | None = None  # challenger's mean time lost as a share of the champion's
    tail: float = math.nan  # the same for the 99th percentile

    def to_dict(self) -> dict[str, object]:
        wait = None if self.wait is None else [self.wait.value, self.wait.low, self.wait.high]
        return {"verdict": self.verdict.value, "reason": self.reason, "days": self.days,
                "wait": wait, "tail": None if math.isnan(self.tail) else self.tail}  # fmt: skip


def contest(
    trace: Trace,
    cluster: Cluster,
    champion: PolicyLike,
    challenger: PolicyLike,
    config: ContestConfig | None = None,
) -> Contest:
    """Replay the whole history under each and count the days at its end, the last tenth of it."""
    config = config or ContestConfig()
    first = first_unseen(trace)
    held_back = np.arange(len(trace)) >= first
    absurd = absurd_runs(trace.jobs)
    if absurd[held_back].mean() > config.absurd_share:
        return Contest(
            ContestVerdict.UNDECIDED,
            f"{int(absurd[held_back].sum()):,} of {int(held_back.sum()):,} jobs of the days held "
            "back ran longer than can be; look where the history comes from",
        )
    ours, theirs = (
        simulate(trace, cluster, order, estimates=config.estimates)
        for order in (challenger, champion)
    )
    counted = held_back & ours.ran & theirs.ran & ~absurd
    day = np.floor((trace.jobs.submit - trace.jobs.submit[first]) / DAY)
    lost, other_lost = (time_lost(run, cluster)[counted] for run in (ours, theirs))
    mine, other = (_by_day(times, day[counted]) for times in (lost, other_lost))
    if len(mine) < config.least_days:
        return Contest(
            ContestVerdict.UNDECIDED,
            f"{len(mine)} days held back, {config.least_days} are needed",
            len(mine),
        )
    wait = ratio_of_means(mine, other, config.confidence)
    tail = _ratio(*(float(np.percentile(times, 99)) for times in (lost, other_lost)))
    return _judge(wait, tail, len(mine), config)


def _judge(wait: Interval, tail: float, days: int, config: ContestConfig) -> Contest:
    said = f"mean wait {wait.value - 1:+.1%} ({wait.low - 1:+.1%} to {wait.high - 1:+.1%})"
    said += f", 99th percentile {tail - 1:+.1%}, over {days} days"
    if not wait.high < 1.0:
        verdict = ContestVerdict.NOT_BETTER
    elif not tail <= config.tail_promise:
        verdict = ContestVerdict.BREAKS_PROMISE
    else:
        verdict = ContestVerdict.WON
    return Contest(verdict, said, days, wait, tail)


def time_lost(ran: Schedule, cluster: Cluster) -> Floats:
    """Seconds by which each job ended later than if it had begun at once on the GPUs that suit it
    best: its wait, and what slower GPUs cost it."""
    jobs = ran.trace.jobs
    types = cluster.gpu_types or ("",)
    kinds = (*jobs.kind.values, None)  # the last one for jobs without a kind
    fastest = np.array([max(cluster.speed_of(name, kind) for name in types) for kind in kinds])
    lost: Floats = ran.end - jobs.submit - jobs.run / fastest[jobs.kind.codes]
    return lost


def absurd_runs(jobs: Jobs) -> Bools:
    """Run times that no cluster can have seen: far beyond the limit, or two months without one."""
    allowed = np.where(np.isnan(jobs.limit), LONGEST, 2.0 * jobs.limit + GRACE)
    found: Bools = ~(jobs.run <= allowed)
    return found


def _by_day(waits: Floats, day: Floats) -> Floats:
    _, codes = np.unique(day, return_inverse=True)
    sums: Floats = np.bincount(codes, waits) / np.bincount(codes)
    return sums


def _ratio(ours: float, theirs: float) -> float:
    return ours / theirs if theirs > 0 else (1.0 if ours == 0 else math.inf)
