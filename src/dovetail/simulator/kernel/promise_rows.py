"""Rows behind promised starts: node sets with their steps, promises, claims and holds."""

from __future__ import annotations

from dovetail.compiled.tables import Row


class NodeSet(Row):
    """One node, or several that are only given out whole: then promises count them."""

    kinds: int  # bit k: has nodes of kind k
    chunks: int  # that one job can have here at most
    gpus: int  # when idle
    cpus: int
    memory: int
    first: int  # its steps from now on
    spent: int  # chunks already chosen for the job in hand


class Step(Row):
    """What running and promised jobs leave of a node set from a time on, up to the next step."""

    time: float
    gpus: int
    cpus: int
    memory: int
    next: int  # -1: nothing changes any more


class Promise(Row):
    """When a waiting job is to start under conservative backfilling."""

    time: float  # inf: it has no promise
    end: float  # by estimate
    claim: int  # its first claim; -1: none
    seen: int  # gains when it was last looked at
    score: float  # in this pass
    next_started: int  # in this pass


class Claim(Row):
    """What a promise takes of a node set."""

    next: int
    node_set: int
    gpus: int
    cpus: int
    memory: int


class Gain(Row):
    node_set: int


class Candidate(Row):
    time: float
    gpus: int  # left
    node_set: int
    chunks: int


class Hold(Row):
    """A whole node that a job is to have over [begin, end), for the length of a cycle."""

    next: int  # the node's next one, by time
    node: int
    begin: float
    end: float


class OpeningHeap(Row):
    """Nodes that may take a chunk of a shape for so long, in this cycle: openings one after the
    other."""

    shape: int
    length: float  # seconds
    size: int  # 0: not made yet


class Opening(Row):
    """When a node can take the chunk; no earlier than this."""

    time: float
    node: int


class Beyond(Row):
    """What a job asked for that is not to begin within the window of this cycle."""

    large_shape: int
    small_shape: int
    many: int  # large chunks
    every: int  # chunks
    length: float
