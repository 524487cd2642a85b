"""Promises: what must not get worse than under Slurm's own order, by more than so much, for whom.

>>> promises = Promises.parse("size_p95=0.1, user_mean=0.25, utilisation=0")
>>> promises.size_p95, promises.qos_mean
(0.1, inf)
>>> found = promises.check(groups=(), utilisation=(0.8, 0.7))
>>> [str(finding) for finding in found.broken]
['utilisation 70.0 %, promised 80.0 % or more']
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from dovetail.domain.arguments import number
from dovetail.domain.errors import ConfigError
from dovetail.domain.group_waits import GroupWaits, group_waits
from dovetail.domain.jobs import Bools
from dovetail.domain.metrics import summary
from dovetail.domain.schedule import Schedule
from dovetail.domain.units import duration, share

NO_PROMISE = math.inf
PROMISED = ("size", "qos", "account", "user")
"""Groupings that promises can be made for: those that are known before a job has run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One promise to one group, and how it stands."""

    grouping: str
    name: str  # of the group; empty: of all jobs
    measure: str  # mean, p95 or utilisation
    jobs: int
    baseline: float
    value: float
    bound: float  # what was promised

    @property
    def excess(self) -> float:
        """By what part the bound is passed; 0 or less: it is kept."""
        if self.measure == "utilisation":
            return (self.bound - self.value) / max(self.bound, 1e-9)
        return self.value / max(self.bound, 1e-9) - 1.0

    def __str__(self) -> str:
        if self.measure == "utilisation":
            return f"utilisation {share(self.value)}, promised {share(self.bound)} or more"
        what = "mean wait" if self.measure == "mean" else "95th percentile of waits"
        return (
            f"{self.grouping} {self.name}: {what} {duration(self.value)}, promised "
            f"{duration(self.bound)} ({duration(self.baseline)} under Slurm; {self.jobs:,} jobs)"
        )


@dataclass(frozen=True, slots=True)
class PromiseCheck:
    """All promises that could be looked at; `too_few` are those of groups with too few jobs."""

    kept: tuple[Finding, ...] = ()
    broken: tuple[Finding, ...] = ()
    too_few: tuple[Finding, ...] = ()

    @property
    def excess(self) -> float:
        """How far promises are broken, in all: 0 where all are kept; for training."""
        return math.fsum(math.log1p(finding.excess) for finding in self.broken)


@dataclass(frozen=True, slots=True)
class Promises:
    """By what part waits may grow, per group; 0.1: ten per cent; infinite: nothing is promised."""

    size_mean: float = NO_PROMISE  # mean wait of each size class; 0.1: ten per cent longer
    size_p95: float = NO_PROMISE  # 95th percentile of its waits
    qos_mean: float = NO_PROMISE  # likewise, of each QOS
    qos_p95: float = NO_PROMISE  # likewise
    account_mean: float = NO_PROMISE  # likewise, of each account
    account_p95: float = NO_PROMISE  # likewise
    user_mean: float = NO_PROMISE  # likewise, of each user
    user_p95: float = NO_PROMISE  # likewise
    utilisation: float = NO_PROMISE  # by what part it may fall
    slack: float = 60.0  # seconds that a wait may grow by whatever the part
    least_jobs: int = 30  # of a group; of fewer nothing is said

    def __post_init__(self) -> None:
        for key, value in asdict(self).items():
            if not (isinstance(value, int | float) and value >= 0):
                raise ConfigError(f"promise {key} is {value}, expected 0 or more")
        if self.least_jobs < 1:
            raise ConfigError("promise least_jobs is 0, expected 1 or more")

    @classmethod
    def parse(cls, text: str) -> Promises:
        """From `size_p95=0.1,user_mean=0.25`; `10%` reads as 0.1."""
        values: dict[str, float | str] = {}
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            key, sign, value = (piece.strip() for piece in part.partition("="))
            if not sign:
                raise ConfigError(f"promise {part!r}, expected KEY=PART such as size_p95=0.1")
            values[key] = value
        return cls.from_mapping(values)

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any]) -> Promises:
        """From a TOML table, or texts; an unknown key is an error."""
        known = [item.name for item in fields(cls)]
        chosen: dict[str, Any] = {}
        for key, value in table.items():
            if key not in known:
                raise ConfigError(f"no promise {key!r}; known are {', '.join(known)}")
            chosen[key] = _part(key, value) if isinstance(value, str) else number(key, value)
        if "least_jobs" in chosen:
            chosen["least_jobs"] = int(chosen["least_jobs"])
        return cls(**chosen)

    @property
    def groupings(self) -> tuple[str, ...]:
        """Those that anything is promised for."""
        return tuple(
            name
            for name in PROMISED
            if min(self.allowed(name, "mean"), self.allowed(name, "p95")) < NO_PROMISE
        )

    def __bool__(self) -> bool:
        """Whether anything is promised."""
        return bool(self.groupings) or self.utilisation < NO_PROMISE

    def allowed(self, grouping: str, measure: str) -> float:
        """By what part this may grow."""
        value: float = getattr(self, f"{grouping}_{measure}", NO_PROMISE)
        return value

    def bound(self, grouping: str, measure: str, baseline: float) -> float:
        """The longest wait that keeps the promise."""
        return baseline + max(self.slack, baseline * self.allowed(grouping, measure))

    def check(
        self, groups: Iterable[GroupWaits], utilisation: tuple[float, float] | None = None
    ) -> PromiseCheck:
        """How the promises stand; `utilisation` is (baseline, candidate), where it is known."""
        kept: list[Finding] = []
        broken: list[Finding] = []
        few: list[Finding] = []
        for group in groups:
            for measure, before, after in (
                ("mean", group.baseline_mean, group.mean),
                ("p95", group.baseline_p95, group.p95),
            ):
                if self.allowed(group.grouping, measure) == NO_PROMISE:
                    continue
                bound = self.bound(group.grouping, measure, before)
                found = Finding(
                    group.grouping, group.name, measure, group.jobs, before, after, bound
                )
                if group.jobs < self.least_jobs:
                    few.append(found)
                else:
                    (kept if found.excess <= 0 else broken).append(found)
        if utilisation is not None and self.utilisation < NO_PROMISE:
            before, after = utilisation
            found = Finding(
                "", "", "utilisation", 0, before, after, before * (1 - self.utilisation)
            )
            (kept if found.excess <= 1e-9 else broken).append(found)
        return PromiseCheck(tuple(kept), tuple(broken), tuple(few))

    def check_schedules(
        self, baseline: Schedule, candidate: Schedule, rows: Bools | None = None
    ) -> PromiseCheck:
        """How the promises stand between two schedules of the same trace, on `rows` or all."""
        if baseline.trace.digest() != candidate.trace.digest():
            raise ConfigError("promises compare two schedules of one trace; these are of two")
        groups = group_waits(
            baseline.trace.jobs, baseline.wait, candidate.wait, self.groupings, rows
        )
        used = (summary(baseline)["gpu_utilization"], summary(candidate)["gpu_utilization"])
        return self.check(groups, used)


def _part(key: str, text: str) -> float:
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise ConfigError(
            f"promise {key} is {text!r}, expected a part such as 0.1 or 10%"
        ) from None
