"""What policies are told of jobs, as a table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dovetail.compiled.tables import Table, new_table
from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import FORECAST, Estimates
from dovetail.domain.jobs import Floats, Ints, Jobs, Names
from dovetail.domain.policy import JobFacts
from dovetail.simulator.priority_points import priority_points

SIZE_STEPS = 1024
"""Parts of a GPU in which sizes of jobs without GPUs are counted."""


def job_facts_of(jobs: Jobs, cluster: Cluster, estimates: Estimates, account: Ints) -> Table:
    """A table of JobFacts."""
    table = new_table(JobFacts, len(jobs))
    table["size"] = _sizes_of(jobs, cluster)
    for column in ("submit", "gpus", "deadline", "priority"):
        table[column] = getattr(jobs, column)
    table["estimate"] = np.maximum(1.0, estimates.seconds)
    table["reserve"] = np.maximum(1.0, estimates.reserve)
    for column in FORECAST:
        table[column] = getattr(estimates, column)
    table["partition_factor"] = _factors(jobs.partition, cluster.partition_factor)
    table["qos_factor"] = _factors(jobs.qos, cluster.qos_factor)
    table["points"] = priority_points(jobs, cluster)
    table["account"] = account
    table["cpus_per_gpu"] = jobs.cpus / np.maximum(jobs.gpus, 1)
    table["memory_per_gpu"] = jobs.memory / np.maximum(jobs.gpus, 1)
    table["log_gpus"] = np.log(table["size"])
    table["log_estimate"] = np.log(table["estimate"])
    table["exempt"] = jobs.exempt
    return table


def _sizes_of(jobs: Jobs, cluster: Cluster) -> Floats:
    """What a job counts for: its GPUs; without any, what its CPUs are a share of.

    In whole 1/1024 parts, so that sums of them are exact in any order.
    """
    share = np.ceil(jobs.cpus * cluster.gpus_per_cpu * SIZE_STEPS)
    return np.where(jobs.gpus > 0, jobs.gpus, np.maximum(1.0, share) / SIZE_STEPS)


def _factors(names: Names, factor: Callable[[str | None], float]) -> Floats:
    """A number per job from its name, each name asked about once."""
    by_code = np.array([*map(factor, names.values), factor(None)])  # code -1 is the last
    return by_code[names.codes]
