"""Which GPUs recorded runs had, and how scattered the free ones were meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dovetail.domain.cluster import Cluster
from dovetail.live.journal.records import EndedRun, RecordedRun


class HeldGpus(NamedTuple):
    """GPUs of one node, as bits."""

    node: int
    bits: int


def occupy(runs: Sequence[EndedRun], cluster: Cluster) -> tuple[list[list[HeldGpus]], float]:
    """The chunks of each run, and the time-weighted share of free GPUs on partly used nodes.

    Slurm tells how many GPUs of a node a run had; the lowest that are free then are taken. Where
    an end is known only by when the job was last seen, two runs may have to share one.
    """
    number = {node.name: index for index, node in enumerate(cluster.nodes)}
    whole = [(1 << node.gpus) - 1 for node in cluster.nodes]
    used = [0] * len(whole)
    chunks: list[list[HeldGpus]] = [[] for _ in runs]
    # Of one moment, ends come before starts, as in the simulator; a run of no time comes and goes.
    events = [(ended.run.start, 1, row) for row, ended in enumerate(runs)]
    events += [(e.end, 0 if e.end > e.run.start else 2, row) for row, e in enumerate(runs)]
    meter = _Meter([node.gpus for node in cluster.nodes])
    for time, turn, row in sorted(events):
        meter.advance(time)
        if turn == 1:
            chunks[row] = _take(runs[row].run, number, whole, used)
        for node, bits in chunks[row]:
            used[node] = used[node] | bits if turn == 1 else used[node] & ~bits
            meter.set(node, used[node].bit_count())
    return chunks, meter.share(min((ended.run.queued for ended in runs), default=0.0))


def _take(
    run: RecordedRun, number: dict[str, int], whole: list[int], used: list[int]
) -> list[HeldGpus]:
    """GPUs on each of its hosts that the cluster knows."""
    counts = run.host_gpus if len(run.host_gpus) == len(run.hosts) else _evenly(run)
    taken = []
    for host, count in zip(run.hosts, counts, strict=True):
        node = number.get(host)
        if node is None or (count < 1 and run.gpus > 0):
            continue
        free = whole[node] & ~used[node]
        bits = _lowest(free, count)
        missing = count - bits.bit_count()
        taken.append(HeldGpus(node, bits | _lowest(whole[node] & ~bits, missing)))
    return taken


def _evenly(run: RecordedRun) -> tuple[int, ...]:
    each, rest = divmod(run.gpus, max(1, len(run.hosts)))
    return tuple(each + (index < rest) for index in range(len(run.hosts)))


def _lowest(bits: int, count: int) -> int:
    """The lowest `count` ones; all where there are fewer."""
    taken = 0
    for _ in range(min(count, bits.bit_count())):
        low = bits & -bits
        taken, bits = taken | low, bits ^ low
    return taken


class _Meter:
    """Integrates the share of free GPUs that are on partly used nodes."""

    def __init__(self, gpus: Sequence[int]) -> None:
        self._gpus = gpus
        self._busy = [0] * len(gpus)
        self._free, self._stranded = sum(gpus), 0
        self._time, self._area = 0.0, 0.0

    def advance(self, time: float) -> None:
        if self._free:
            self._area += (time - self._time) * self._stranded / self._free
        self._time = time

    def set(self, node: int, busy: int) -> None:
        self._stranded += self._partly(node, busy) - self._partly(node, self._busy[node])
        self._free += self._busy[node] - busy
        self._busy[node] = busy

    def share(self, origin: float) -> float:
        span = self._time - origin
        return self._area / span if span > 0 else 0.0

    def _partly(self, node: int, busy: int) -> int:
        return self._gpus[node] - busy if busy else 0
