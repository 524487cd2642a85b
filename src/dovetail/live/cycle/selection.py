"""Which waiting jobs the daemon may touch, and why not the others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import itemgetter

from dovetail.domain.errors import ConfigError
from dovetail.live.config import ActConfig
from dovetail.live.model.snapshot import LiveJob, Snapshot

_ID = itemgetter(LiveJob._fields.index("id"))

HELD = "held"
DEPENDS = "waits for another job"
LATER = "may not start yet"
RESERVED = "has a reservation"
HETEROGENEOUS = "part of a heterogeneous job"
NO_GPU = "asks for no GPU"
PARTITION = "its partition is not steered"
ACCOUNT = "its account is excluded"
QOS = "its QOS is excluded"
SLA = "bound by an SLA"
PLAIN_REASONS = frozenset({"", "Priority", "Resources"})
"""Why jobs wait that nothing but their turn keeps from starting."""
UNKNOWN_PRIORITY = "Slurm gives it no priority yet"


def select(snapshot: Snapshot, config: ActConfig) -> tuple[tuple[LiveJob, ...], Mapping[int, str]]:
    """Waiting jobs that may be touched, and the reason of each that may not."""
    return JobSelection(config).of(snapshot)


class JobSelection:
    """Asked in every cycle; a job that could be touched and is as it was is not asked again.

    Of 10,000 waiting jobs that takes 2 ms instead of 8.
    """

    def __init__(self, config: ActConfig) -> None:
        self._config, self._rules = config, SelectionRules(config)
        self._time = -math.inf
        self._touchable: Mapping[int, LiveJob] = {}  # those that nothing but their turn keeps

    def of(self, snapshot: Snapshot) -> tuple[tuple[LiveJob, ...], Mapping[int, str]]:
        """Waiting jobs that may be touched, and the reason of each that may not."""
        refuse_unknown_names(snapshot, self._config)
        before = self._touchable if snapshot.time >= self._time else {}
        self._time = snapshot.time
        waiting = snapshot.pending
        known = map(before.get, map(_ID, waiting))
        fresh = {job.id: job for job, was in zip(waiting, known, strict=True) if was is not job}
        fresh.update({job.id: job for job in snapshot.without_factors})
        untouched = {n: why for n, job in fresh.items() if (why := self._why_not(job, snapshot))}
        touchable = waiting
        if untouched:
            touchable = tuple([job for job in waiting if job.id not in untouched])
        self._touchable = dict(zip(map(_ID, touchable), touchable, strict=True))
        return touchable, untouched

    def _why_not(self, job: LiveJob, snapshot: Snapshot) -> str:
        # Most are of this kind; the rest is asked why not, at five times the price.
        plain = (
            job.reason in PLAIN_REASONS and job.priority > 0 and job.gpus > 0
            and not (job.dependency or job.reservation or job.het or job.comment)
            and job.eligible <= snapshot.time and job.id in snapshot.factors
        )  # fmt: skip
        if plain:
            return self._rules.excluded(job.partitions, job.account, job.qos)
        return self._rules.why_not(job, snapshot)


def refuse_unknown_names(snapshot: Snapshot, config: ActConfig) -> None:
    """A name that Slurm does not have protects nobody: nothing is decided until it is mended."""
    partitions = {part.name for part in snapshot.partitions}
    accounts = {share.account for share in snapshot.shares}
    if config.exclude_accounts and accounts:
        accounts |= {job.account for job in snapshot.jobs}
    for key, names, known in (
        ("partitions", config.partitions, partitions),
        ("exclude_partitions", config.exclude_partitions, partitions),
        ("exclude_accounts", config.exclude_accounts, accounts),
        ("exclude_qos", config.exclude_qos, set(snapshot.qos)),
    ):
        unknown = [name for name in names if name not in known]
        if unknown and known:
            raise ConfigError(
                f"act.{key} has {unknown[0]!r}, which Slurm does not know; "
                f"known: {', '.join(sorted(known)[:20])}"
            )


class SelectionRules:
    """The configuration, ready to be asked ten thousand times in a cycle."""

    def __init__(self, config: ActConfig) -> None:
        self._only = frozenset(config.partitions)
        self._partitions = frozenset(config.exclude_partitions)
        self._accounts = frozenset(config.exclude_accounts)
        self._qos = frozenset(config.exclude_qos)
        self._tag = config.sla_tag
        self._known: dict[tuple[tuple[str, ...], str, str], str] = {}  # few differ

    def why_not(self, job: LiveJob, snapshot: Snapshot) -> str:
        """Why a waiting job is left alone; empty: it is not."""
        if job.held:
            return HELD
        if job.dependency or job.reason in ("Dependency", "DependencyNeverSatisfied"):
            return DEPENDS
        if job.reason == "BeginTime" or not job.eligible <= snapshot.time:  # also: not known
            return LATER
        if job.reservation:
            return RESERVED
        if job.het:
            return HETEROGENEOUS
        if job.gpus <= 0:
            return NO_GPU
        if job.id not in snapshot.factors:
            return UNKNOWN_PRIORITY
        reason = self.excluded(job.partitions, job.account, job.qos)
        if not reason and self._tag and job.comment and self._tag in job.comment.split():
            return SLA
        return reason

    def excluded(self, partitions: tuple[str, ...], account: str, qos: str) -> str:
        """Why jobs of these are left alone; empty: they are not."""
        key = (partitions, account, qos)
        reason = self._known.get(key)
        if reason is None:
            reason = self._known[key] = self._why_excluded(partitions, account, qos)
        return reason

    def _why_excluded(self, partitions: tuple[str, ...], account: str, qos: str) -> str:
        if self._only and not self._only.issuperset(partitions):
            return PARTITION
        if not self._partitions.isdisjoint(partitions):
            return PARTITION
        if account in self._accounts:
            return ACCOUNT
        return QOS if qos in self._qos else ""
