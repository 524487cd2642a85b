"""What running jobs hold, node by node: GPUs, and their share of CPUs and memory.

>>> job = LiveJob(1, "1", "RUNNING", gpus=3, hosts=("a", "b"))
>>> pieces, _ = pieces_of([job], {"a": 0, "b": 1}, Cluster.parse("2x4"))
>>> [(piece.node, piece.count) for piece in pieces]
[(0, 2), (1, 1)]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dovetail.domain.cluster import Cluster
from dovetail.live.model.snapshot import LiveJob

ROUNDED = 1e-6
"""CPUs, or GB, that sums of shares may be off by."""


@dataclass(frozen=True, slots=True)
class RunningPiece:
    """What one running job holds on one node."""

    job: LiveJob
    node: int
    gpus: int  # bits
    count: int
    share: float  # of the job's CPUs and memory


def pieces_of(
    running: Iterable[LiveJob], index: Mapping[str, int], cluster: Cluster
) -> tuple[list[RunningPiece], dict[int, str]]:
    """Which GPUs running jobs hold: which ones does not matter, how many on each node does."""
    free = [(1 << node.gpus) - 1 for node in cluster.nodes]
    pieces: list[RunningPiece] = []
    left_out: dict[int, str] = {}
    without: list[LiveJob] = []
    for job in running:
        if job.gpus <= 0:
            without.append(job)
            continue
        for host, count in zip(job.hosts, _spread(job), strict=True) if job.hosts else ():
            number = index.get(host)
            if number is None or count == 0:
                continue
            if free[number].bit_count() < count:
                left_out[job.id] = f"Slurm says that {host} has more GPUs in use than it has"
                continue
            bits = _lowest(free[number], count)
            free[number] ^= bits
            pieces.append(RunningPiece(job, number, bits, count, count / job.gpus))
    if without:
        found, crowded = _pieces_without(without, index, cluster, pieces)
        pieces += found
        left_out |= crowded
    return pieces, left_out


def _pieces_without(
    jobs: Iterable[LiveJob],
    index: Mapping[str, int],
    cluster: Cluster,
    pieces: Sequence[RunningPiece],
) -> tuple[list[RunningPiece], dict[int, str]]:
    """What running jobs without GPUs hold of the CPUs and the memory that `pieces` leave."""
    free = [[node.cpus, node.memory_gb] for node in cluster.nodes]
    for piece in pieces:
        free[piece.node][0] -= piece.job.cpus * piece.share
        free[piece.node][1] -= piece.job.memory_gb * piece.share
    found: list[RunningPiece] = []
    crowded: dict[int, str] = {}
    for job in jobs:
        share = 1.0 / max(1, len(job.hosts))
        for number in [index[host] for host in job.hosts if host in index and job.cpus > 0]:
            room = free[number]
            room[0] -= job.cpus * share
            room[1] -= job.memory_gb * share
            if min(room) < -ROUNDED:  # CPUs that jobs share have no row in a simulation
                crowded[job.id] = f"{cluster.nodes[number].name} has more in use than it has"
                room[0] += job.cpus * share
                room[1] += job.memory_gb * share
            elif room[0] < math.inf:
                found.append(RunningPiece(job, number, 0, 0, share))
    return found, crowded


def _spread(job: LiveJob) -> tuple[int, ...]:
    if job.host_gpus:
        return job.host_gpus
    each, more = divmod(job.gpus, len(job.hosts))
    return tuple(each + (i < more) for i in range(len(job.hosts)))


def _lowest(bits: int, count: int) -> int:
    taken = 0
    for _ in range(count):
        taken |= bits & -bits
        bits &= bits - 1
    return taken
