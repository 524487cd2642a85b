"""What a journal recorded, as the schedule that it was: the real cluster's, not a simulation's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from dovetail.domain.cluster import ANY_TYPE, MAX_GPUS_PER_NODE, Cluster, Node, Partition
from dovetail.domain.jobs import TEN_YEARS, JobColumns
from dovetail.domain.provenance import inputs_of, version
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.live.journal.errors import JournalError
from dovetail.live.journal.occupancy import occupy
from dovetail.live.journal.reader import JournalReader
from dovetail.live.journal.records import EndedRun
from dovetail.live.journal.shape import ClusterShape, NodeShape
from dovetail.live.model.mode import Mode

RECORDED = "recorded"
"""Stands where a simulated schedule names its order, placement and backfill."""


def recorded_schedule(
    past: JournalReader,
    since: float,
    until: float,
    unfinished: Iterable[EndedRun] = (),
    without_gpus: bool = False,
) -> Schedule:
    """Runs on GPUs that ended within these times; a run of a requeued job is a job of its own.


    `unfinished`: runs that are to count as well, with the ends that are expected of them;
    `without_gpus`: those without GPUs as well, where their partition has nodes with them.
    """
    cluster = _cluster([shape for _, shape in past.shapes(until)], past, without_gpus)
    beside = _counted_partitions(cluster) if without_gpus else frozenset()
    runs, notes = _usable(chain(past.ended(since, until), unfinished), beside)
    if not any(ended.run.gpus > 0 for ended in runs):
        raise JournalError(
            f"{past.path}: no job with GPUs ended in that time; name a longer one with --since"
        )
    runs.sort(key=lambda ended: ended.run.queued)
    trace = Trace(_columns(runs).build(), past.path.name, tuple(notes))
    chunks, fragmentation = occupy(runs, cluster)
    known = sum(len(part) > 0 for part in chunks)
    return Schedule(
        trace=trace,
        cluster=cluster,
        start=trace.jobs.recorded_start.copy(),
        end=np.array([ended.end for ended in runs]),
        estimate=trace.jobs.limit.copy(),
        backfilled=np.zeros(len(runs), np.bool_),  # Slurm does not tell
        rejected=np.zeros(len(runs), np.int64),
        reasons=("",),
        chunk_offset=np.cumsum([0, *map(len, chunks)]).astype(np.int64),
        chunk_node=np.array([c.node for part in chunks for c in part], np.int64),
        chunk_gpus=np.array([c.bits for part in chunks for c in part], np.uint64),
        events=2 * len(runs),
        fragmentation=fragmentation,
        config={
            "version": version(),
            "source": f"recorded by the journal {past.path.name}, not simulated",
            "gpu_numbers": "the lowest that were free: Slurm tells how many, not which",
            "jobs_with_known_nodes": known,
            "active_share": _active_share(runs),
            "order": RECORDED,
            "placement": RECORDED,
            "backfill": RECORDED,
            "estimates": "limit",
            **inputs_of(trace, cluster),
        },
    )


def _active_share(runs: Sequence[EndedRun]) -> float:
    """The share of the runs that started in active mode."""
    return sum(ended.run.mode == Mode.ACTIVE.value for ended in runs) / max(1, len(runs))


def _counted_partitions(cluster: Cluster) -> frozenset[str]:
    """Those with a node that says how many CPUs it has."""
    counted = {number for number, node in enumerate(cluster.nodes) if node.cpus < math.inf}
    return frozenset(part.name for part in cluster.partitions if part.nodes & counted)


def _usable(found: Iterable[EndedRun], beside: frozenset[str]) -> tuple[list[EndedRun], list[str]]:
    """Runs that a schedule can hold, and what was left out, in words.

    beside: partitions whose runs without GPUs are kept.
    """
    runs: list[EndedRun] = []
    without_gpus = without_times = 0
    for ended in found:
        run = ended.run
        if run.gpus < 1 and not (run.cpus > 0 and run.partition in beside):
            without_gpus += 1
        elif not (run.queued <= run.start <= ended.end <= run.start + TEN_YEARS):
            without_times += 1
        else:
            runs.append(ended)
    notes = []
    if without_gpus:
        notes.append(f"{without_gpus:,} runs without GPUs are left out")
    if without_times:
        notes.append(f"{without_times:,} runs are left out: no submit time, or one after the start")
    return runs, notes


def _columns(runs: Sequence[EndedRun]) -> JobColumns:
    jobs = [ended.run for ended in runs]
    return JobColumns(
        ids=_distinct([run.label for run in jobs]),
        submit=[run.queued for run in jobs],
        run=[ended.end - ended.run.start for ended in runs],
        gpus=[run.gpus for run in jobs],
        limit=[run.limit if 0 < run.limit <= TEN_YEARS else math.nan for run in jobs],
        nodes=[run.nodes if run.nodes <= run.gpus or run.gpus < 1 else 0 for run in jobs],
        cpus=[run.cpus for run in jobs],
        memory=[run.memory_gb for run in jobs],
        gpu_type=[run.gpu_type or None for run in jobs],
        partition=[run.partition or None for run in jobs],
        user=[run.user or None for run in jobs],
        qos=[run.qos or None for run in jobs],
        account=[run.account or None for run in jobs],
        recorded_start=[run.start for run in jobs],
    )


def _distinct(labels: Sequence[str]) -> list[str]:
    """A requeued job runs more than once: its later runs are numbered.

    >>> _distinct(["17", "17", "18"])
    ['17', '17 run 2', '18']
    """
    seen: dict[str, int] = {}
    for label in labels:
        seen.setdefault(label, 0)
    names = []
    for label in labels:
        seen[label] += 1
        names.append(label if seen[label] == 1 else f"{label} run {seen[label]}")
    return names


def _cluster(shapes: Sequence[ClusterShape], past: JournalReader, without_gpus: bool) -> Cluster:
    """All nodes with GPUs that there ever were, each as it was last.

    without_gpus: nodes without GPUs of the same partitions as well.
    """
    last: dict[str, NodeShape] = {}
    priorities: dict[str, int] = {}
    for shape in shapes:
        last.update({node.name: node for node in shape.nodes})
        priorities.update(shape.priorities)
    beside = {name for node in last.values() if node.gpus > 0 for name in node.partitions}
    kept = [
        node
        for node in last.values()
        if 1 <= node.gpus <= MAX_GPUS_PER_NODE
        or (without_gpus and node.gpus == 0 < node.cpus and beside & set(node.partitions))
    ]
    if not any(node.gpus > 0 for node in kept):
        raise JournalError(f"{past.path}: holds no cluster with GPUs up to that time")
    members: dict[str, set[int]] = {}
    for index, node in enumerate(kept):
        for name in node.partitions:
            members.setdefault(name, set()).add(index)
    return Cluster(
        nodes=tuple(
            Node(
                node.name,
                node.gpus,
                node.gpu_type or ANY_TYPE,
                node.cpus or math.inf,  # 0: not told
                node.memory_gb or math.inf,
            )
            for node in kept
        ),
        partitions=tuple(
            Partition(name, frozenset(nodes), float(priorities.get(name, 1)))
            for name, nodes in members.items()
        ),
        name="as recorded",
    )
