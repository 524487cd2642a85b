"""Which waiting jobs the daemon may touch, and why not the others."""

from __future__ import annotations

from collections.abc import Mapping

from dovetail.domain.snapshot import LiveJob, Snapshot
from dovetail.live.config import ActConfig

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
UNKNOWN_PRIORITY = "Slurm gives it no priority yet"
REASONS = (
    HELD, DEPENDS, LATER, RESERVED, HETEROGENEOUS, NO_GPU, PARTITION, ACCOUNT, QOS, SLA,
    UNKNOWN_PRIORITY,
)  # fmt: skip


def select(snapshot: Snapshot, config: ActConfig) -> tuple[tuple[LiveJob, ...], Mapping[int, str]]:
    """Waiting jobs that may be touched, and the reason of each that may not."""
    touchable, untouched = [], {}
    for job in snapshot.pending:
        reason = why_not(job, snapshot, config)
        if reason:
            untouched[job.id] = reason
        else:
            touchable.append(job)
    return tuple(touchable), untouched


def why_not(job: LiveJob, snapshot: Snapshot, config: ActConfig) -> str:
    """Why a waiting job is left alone; empty: it is not."""
    if job.held:
        return HELD
    if job.dependency or job.reason in ("Dependency", "DependencyNeverSatisfied"):
        return DEPENDS
    if job.reason == "BeginTime" or job.eligible > snapshot.time or job.eligible != job.eligible:
        return LATER
    if job.reservation:
        return RESERVED
    if job.het:
        return HETEROGENEOUS
    if job.gpus <= 0:
        return NO_GPU
    return _excluded(job, config) or ("" if job.id in snapshot.factors else UNKNOWN_PRIORITY)


def _excluded(job: LiveJob, config: ActConfig) -> str:
    if config.partitions and not set(job.partitions) <= set(config.partitions):
        return PARTITION
    if set(job.partitions) & set(config.exclude_partitions):
        return PARTITION
    if job.account in config.exclude_accounts:
        return ACCOUNT
    if job.qos in config.exclude_qos:
        return QOS
    if config.sla_tag and config.sla_tag in job.comment.split():
        return SLA
    return ""
