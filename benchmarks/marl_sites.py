"""The partition of thirty mixed nodes, and the histories that are scaled to it.

Three real traces have neither users nor types: a job may run on any node that has the GPUs. The
drawn history has partitions, users, limits and types, as sacct would show them. No speeds are
assumed: how much faster one type is than another differs from job to job, and no trace says it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.workloads import REAL, folder
from dovetail.agents.history import Site
from dovetail.domain.cluster import Cluster, Partition
from dovetail.domain.jobs import Names
from dovetail.domain.trace import Trace
from dovetail.traces.reader import read_trace
from dovetail.traces.synthetic import WORKLOADS, offered_load, synthesize

PARTITION = "14x8:v100,8x4:p100,8x2:t4"
"""Thirty nodes, 160 GPUs."""

LARGEST = 64
"""GPUs of a job: beyond that the few that there are would drain half of the partition each."""

DRAWN = "sacct"
SITES = (*REAL, DRAWN)
DRAWN_JOBS = 86_720


def open_site(name: str, jobs: int, load: float) -> Site:
    """The last `jobs` jobs of a history, arriving so fast that the partition has this load."""
    if name == DRAWN:
        return _drawn(min(jobs, DRAWN_JOBS), load)
    trace = read_trace(folder() / REAL[name][0], repair=("all",))
    small = np.flatnonzero(trace.jobs.gpus <= LARGEST)[-jobs:]
    return Site(_scaled(Trace(trace.jobs.take(small), name), load), Cluster.parse(PARTITION))


def _scaled(trace: Trace, load: float) -> Trace:
    """The same jobs with gaps between arrivals made longer or shorter, all by one factor."""
    cluster, jobs = Cluster.parse(PARTITION), trace.jobs
    factor = offered_load(jobs, cluster.total_gpus) / load
    submit = jobs.submit[0] + (jobs.submit - jobs.submit[0]) * factor
    gone = np.full(len(jobs), np.nan)
    other = replace(jobs, submit=submit, recorded_start=gone, deadline=gone)
    return Trace(other, f"{trace.name} at {load:g}", trace.notes)


def _drawn(jobs: int, load: float) -> Site:
    """Users keep to a partition: two thirds to all nodes, others to large or to small ones."""
    plain = Cluster.parse(PARTITION)
    trace = synthesize(WORKLOADS["philly"], jobs, seed=7, load=load, cluster_gpus=plain.total_gpus)
    random = np.random.default_rng(7)
    users = trace.jobs.user
    homes = random.choice(["gpu", "gpu", "large", "small"], max(1, len(users.values)))
    names = [str(homes[max(0, code)]) for code in users.codes.tolist()]
    small = [
        name != "small" or gpus <= 4 for name, gpus in zip(names, trace.jobs.gpus, strict=True)
    ]
    names = [name if fits else "gpu" for name, fits in zip(names, small, strict=True)]
    types = random.choice(["v100", "v100|p100", "", ""], len(names))
    asked = [
        str(kind) if kind and name == "gpu" else None
        for kind, name in zip(types, names, strict=True)
    ]
    nodes = range(len(plain.nodes))
    large = frozenset(i for i in nodes if plain.nodes[i].gpus == 8)
    cluster = replace(
        plain,
        partitions=(
            Partition("gpu", frozenset(nodes)),
            Partition("large", large),
            Partition("small", frozenset(nodes) - large),
        ),
    )
    columns = replace(trace.jobs, partition=Names.of(names), gpu_type=Names.of(asked))
    keep = np.flatnonzero(columns.gpus <= LARGEST)
    return Site(_scaled(Trace(columns.take(keep), DRAWN), load), cluster)
