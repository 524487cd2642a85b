"""The partition of thirty mixed nodes, and the histories that are scaled to it.

Three real traces have neither users nor types: a job may run on any node that has the GPUs. The
drawn history has partitions, users, limits and types, as sacct would show them. No speeds are
assumed there: how much faster one type is than another differs from job to job, and no trace says
it. `mixed` is the drawn history with speeds that are made up, and with all known exactly: what an
allocator could gain if there is something to know.
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

DRAWN, MIXED = "sacct", "mixed"
SITES = (*REAL, DRAWN, MIXED)
DRAWN_JOBS = 86_720

SPEEDS = {
    "training": {"v100": 1.0, "p100": 0.55, "t4": 0.3},
    "inference": {"v100": 1.0, "p100": 0.7, "t4": 0.9},
    "interactive": {"v100": 1.0, "p100": 0.9, "t4": 0.95},
}
"""Of `mixed`, by kind of job. `gpu-affinity` knows these kinds."""

SLOWER = 0.75
"""What a load of 1 stands for on `mixed`: of the work that fits if all GPUs were of speed 1."""


def open_site(name: str, jobs: int, load: float) -> Site:
    """The last `jobs` jobs of a history, arriving so fast that the partition has this load."""
    if name == DRAWN:
        return _drawn(min(jobs, DRAWN_JOBS), load)
    if name == MIXED:
        return _mixed(min(jobs, DRAWN_JOBS), load * SLOWER)
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


def _mixed(jobs: int, load: float) -> Site:
    """The drawn history on GPUs whose speeds differ by kind of job; users keep to a kind."""
    site = _drawn(jobs, load)
    users = site.trace.jobs.user
    random = np.random.default_rng(11)
    of_users = random.choice(list(SPEEDS), max(1, len(users.values)))
    kinds = [str(of_users[max(0, code)]) for code in users.codes.tolist()]
    columns = replace(site.trace.jobs, kind=Names.of(kinds))
    return Site(Trace(columns, MIXED), replace(site.cluster, kind_speed=SPEEDS))
