"""A schedule is legal: gangs are whole, nothing starts early, no GPU or node is used twice."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill, BackfillRule, Ordering, Placement
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.policies.policy import BACKFILLS
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate
from dovetail.traces.synthetic import WORKLOADS, synthesize


@cache
def crowded_trace() -> Trace:
    """150 jobs that queue: gangs, single GPUs, kinds of jobs."""
    return synthesize(WORKLOADS["pai"], jobs=150, seed=3, load=2.0, cluster_gpus=48)


@cache
def mixed_cluster() -> Cluster:
    """Two GPU types and two sizes of nodes."""
    return Cluster.parse("4x8:v100,2x4:t4,1x8:t4")


def replay(ordering: Ordering, placement: Placement, backfill: BackfillRule) -> Schedule:
    """The crowded trace on the mixed cluster, with noisy estimates."""
    trace = crowded_trace()
    told = make_estimates(trace, "noisy:1", seed=5)
    return simulate(trace, mixed_cluster(), ordering, placement, backfill, told, HISTORY)


def check_replays(ordering: Ordering, placement: Placement) -> None:
    """With every backfill a replay ends, breaks no rule, and is the same the second time."""
    for backfill in BACKFILLS.values():
        check_schedule(replay(ordering, placement, backfill))
    first, second = (replay(ordering, placement, Backfill.EASY) for _ in range(2))
    for part in ("start", "chunk_node", "chunk_gpus"):
        assert np.array_equal(getattr(first, part), getattr(second, part), equal_nan=True), (
            f"{ordering.name}@{placement.name}: the same replay gave another {part}"
        )


def check_schedule(schedule: Schedule) -> None:
    """Raise AssertionError at the first job or GPU that breaks a rule."""
    jobs, cluster = schedule.trace.jobs, schedule.cluster
    uses: dict[tuple[int, int], list[tuple[float, float, int]]] = {}
    for job in np.flatnonzero(schedule.ran).tolist():
        start, end = float(schedule.start[job]), float(schedule.end[job])
        assert np.isfinite(end), f"job {job} never ends"
        assert start >= schedule.since[job], f"job {job} starts before it is submitted"
        chunks = range(int(schedule.chunk_offset[job]), int(schedule.chunk_offset[job + 1]))
        given = 0
        for chunk in chunks:
            node, word = int(schedule.chunk_node[chunk]), int(schedule.chunk_gpus[chunk])
            assert word.bit_length() <= cluster.nodes[node].gpus, f"job {job}: no such GPU"
            given += word.bit_count()
            for gpu in range(word.bit_length()):
                if word >> gpu & 1:
                    uses.setdefault((node, gpu), []).append((start, end, job))
        assert given == jobs.gpus[job] or (jobs.exclusive[job] and given > jobs.gpus[job]), (
            f"job {job} got {given} of {jobs.gpus[job]} GPUs"
        )
    for (node, gpu), stays in uses.items():
        stays.sort()
        for (_, end, first), (start, _, second) in pairwise(stays):
            assert start >= end, (
                f"jobs {first} and {second} use GPU {gpu} of {cluster.nodes[node].name} at once"
            )
