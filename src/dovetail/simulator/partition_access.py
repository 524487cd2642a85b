"""Which partitions let a job in: AllowAccounts, AllowQos and what denies, and their DefaultTime."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dovetail.domain.access import ANYBODY
from dovetail.domain.cluster import Cluster, Partition
from dovetail.domain.distinct import distinct_rows
from dovetail.domain.jobs import Bools, Jobs
from dovetail.domain.trace import Trace


def not_let_in(jobs: Jobs, cluster: Cluster) -> Bools:
    """Jobs that none of their partitions lets in."""
    found = np.zeros(len(jobs), np.bool_)
    if all(part.access == ANYBODY for part in cluster.partitions):
        return found
    out = {part.name: shut_out(jobs, part) for part in cluster.partitions}
    for code, name in enumerate(jobs.partition.values):
        if parts := cluster.partitions_named(name):
            rows = jobs.partition.codes == code
            found |= rows & np.logical_and.reduce([out[part.name] for part in parts])
    return found


def shut_out(jobs: Jobs, part: Partition) -> Bools:
    """Jobs that a partition would not let in by their account and QOS."""
    if part.access == ANYBODY:
        return np.zeros(len(jobs), np.bool_)
    distinct, which = distinct_rows(np.column_stack([jobs.account.codes, jobs.qos.codes]))
    out = [
        not part.access.lets_in(account=jobs.account.name(account), qos=jobs.qos.name(qos))
        for account, qos in distinct.tolist()
    ]
    return np.array(out, np.bool_)[which]


def with_default_limits(jobs: Jobs, cluster: Cluster) -> Jobs:
    """A job whose time limit is unknown has the default of its partition, if there is one."""
    unknown = np.isnan(jobs.limit)
    if not (
        unknown.any() and any(np.isfinite(part.default_minutes) for part in cluster.partitions)
    ):
        return jobs
    minutes = [_default(cluster, name) for name in (*jobs.partition.values, None)]
    seconds = 60.0 * np.array(minutes)[jobs.partition.codes]  # code -1 is the last
    return replace(jobs, limit=np.where(unknown, seconds, jobs.limit))


def with_default_times(trace: Trace, cluster: Cluster) -> Trace:
    """The same of a whole trace: what a scheduler there knew of its jobs."""
    jobs = with_default_limits(trace.jobs, cluster)
    return trace if jobs is trace.jobs else replace(trace, jobs=jobs)


def _default(cluster: Cluster, name: str | None) -> float:
    """Of several partitions that of the highest tier; NaN: it has none."""
    parts = cluster.partitions_named(name)
    minutes = parts[0].default_minutes if parts else np.inf
    return minutes if np.isfinite(minutes) else np.nan
