"""The cluster's shape, as far as a replay needs it: what nodes there are, and which may be used."""

from __future__ import annotations

import hashlib
import json
import zlib
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from dovetail.live.model.snapshot import LiveJob, Snapshot

_ID = itemgetter(LiveJob._fields.index("id"))


class NodeShape(NamedTuple):
    name: str
    gpus: int
    gpu_type: str
    cpus: float
    memory_gb: float
    partitions: tuple[str, ...]
    usable: bool


class ClusterShape(NamedTuple):
    """Compared in every cycle, written when it changes."""

    nodes: tuple[NodeShape, ...] = ()
    priorities: tuple[tuple[str, int], ...] = ()  # of partitions


def shape_of(snapshot: Snapshot) -> ClusterShape:
    nodes = tuple(
        NodeShape(n.name, n.gpus, n.gpu_type, n.cpus, n.memory_gb, n.partitions, n.usable)
        for n in snapshot.nodes
    )
    return ClusterShape(nodes, tuple((part.name, part.priority) for part in snapshot.partitions))


def pack_shape(shape: ClusterShape) -> bytes:
    return zlib.compress(json.dumps(shape).encode())


def unpack_shape(saved: bytes) -> ClusterShape:
    nodes, priorities = json.loads(zlib.decompress(saved))
    return ClusterShape(
        tuple(NodeShape(*node)._replace(partitions=tuple(node[5])) for node in nodes),
        tuple((str(name), int(priority)) for name, priority in priorities),
    )


def digest_of(snapshot: Snapshot) -> str:
    """A short hash of what jobs and nodes there are and how they stand; 1 ms for 10,000 jobs."""
    jobs, table = snapshot.jobs, snapshot.factor_columns
    digest = hashlib.sha256(np.fromiter(map(_ID, jobs), np.int64, len(jobs)).tobytes())
    for column in (table.ids, table.priority, table.site):
        digest.update(np.ascontiguousarray(column).tobytes())
    # What waits, and of these what sprio does not tell of, as the rest of the jobs.
    apart = [*snapshot.others, *snapshot.without_factors]
    placed = [(j.id, j.state, j.priority, j.restarts, j.hosts) for j in apart]
    nodes = [(n.name, n.state, n.gpus_used) for n in snapshot.nodes]
    digest.update(repr((snapshot.time, placed, nodes)).encode())
    return digest.hexdigest()[:16]
