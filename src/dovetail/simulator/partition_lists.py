"""Which of several partitions a job may really use: those that there are and that let it in.

As Slurm does (EnforcePartLimits=ANY): a partition that does not let a job in, or whose limits of
single jobs it exceeds, is left out of its list. A job of which nothing is left keeps one, under
whose limits it is rejected.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dovetail.domain.cluster import Cluster, Partition
from dovetail.domain.distinct import distinct_rows
from dovetail.domain.jobs import Bools, Jobs, Names
from dovetail.domain.limits import Each, Limit
from dovetail.domain.partition_lists import SEVERAL, join_partitions
from dovetail.simulator.limits import COUNTED, WORKED, seconds_allowed
from dovetail.simulator.partition_access import shut_out


def settle_partitions(jobs: Jobs, cluster: Cluster) -> Jobs:
    """Lists by tier, without partitions that will not do; jobs that ask for one stay as they are.

    So that the same partitions are one name, in whatever order users write them.
    """
    known = {part.name for part in cluster.partitions}
    names = jobs.partition.values
    lists = [code for code, name in enumerate(names) if SEVERAL in name and name not in known]
    lists = [code for code in lists if cluster.partitions_named(names[code])]
    if not lists:
        return jobs
    listed = {part.name for code in lists for part in cluster.partitions_named(names[code])}
    closed = {name: _too_small(jobs, cluster, name) for name in listed}
    codes, values = jobs.partition.codes.copy(), {name: code for code, name in enumerate(names)}
    for code in lists:
        rows = np.flatnonzero(jobs.partition.codes == code)
        parts = cluster.partitions_named(names[code])
        usable = np.column_stack([~closed[part.name][rows] for part in parts])
        distinct, which = distinct_rows(usable)
        settled = [_name(parts, left.tolist()) for left in distinct]
        numbers = [values.setdefault(name, len(values)) for name in settled]
        codes[rows] = np.array(numbers, np.int64)[which]
    return replace(jobs, partition=Names(codes, tuple(values)))


def _name(parts: tuple[Partition, ...], usable: list[bool]) -> str:
    left = tuple(part.name for part, can in zip(parts, usable, strict=True) if can)
    return join_partitions(left or (parts[0].name,))


def _too_small(jobs: Jobs, cluster: Cluster, part: str) -> Bools:
    """Jobs that a partition does not let in, or that exceed a limit of its single jobs."""
    (own,) = (one for one in cluster.partitions if one.name == part)
    found = shut_out(jobs, own)
    for limit in cluster.limits:
        if not limit.together and part in limit.partitions:
            found |= _concerns(limit, jobs) & _exceeds(limit, jobs)
    return found


def _concerns(limit: Limit, jobs: Jobs) -> Bools:
    """Jobs of its users, accounts and QOS."""
    found = np.ones(len(jobs), np.bool_)
    for names, column in (
        (limit.users, jobs.user),
        (limit.accounts, jobs.account),
        (limit.qos, jobs.qos),
    ):
        if names:
            found &= np.array([name in names for name in (*column.values, None)])[column.codes]
    return found


def _exceeds(limit: Limit, jobs: Jobs) -> Bools:
    """What is known of a job before it is split over nodes; an unknown time limit is none."""
    amounts = {"gpus": jobs.gpus, "cpus": jobs.cpus, "memory_gb": jobs.memory, "nodes": jobs.nodes}
    found: Bools = np.zeros(len(jobs), np.bool_)
    by_node = limit.each is Each.NODE  # as far as a job says of how many
    each, known = (jobs.nodes, jobs.nodes > 0) if by_node else (1, np.True_)
    for name, amount in amounts.items():
        asked = np.ceil(amount * COUNTED[name])
        found |= known & (asked / np.maximum(each, 1) > getattr(limit, name) * COUNTED[name])
        told = (name != "nodes") | (amount > 0)
        found |= told & (asked < getattr(limit, f"least_{name}") * COUNTED[name])
    for (name, amount), (work, parts) in zip(amounts.items(), WORKED.items(), strict=True):
        done = np.ceil(amount * COUNTED[name]) * seconds_allowed(jobs)
        found |= done > getattr(limit, work) * parts
    with np.errstate(invalid="ignore"):
        return found | (jobs.limit > 60.0 * limit.minutes)
