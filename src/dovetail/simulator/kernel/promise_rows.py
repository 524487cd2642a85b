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
    bound: int  # what is known of the gains for what it asks; -1: it may go several ways
    lacking: int  # sets that it lacks at least to begin earlier
    known: int  # gains of so many GPUs when it was last looked at
    after: float  # no earlier time was possible then
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
    """A node set that has got room back."""

    node_set: int
    gpus: int  # that it had at most in that time, or in one that it got back shortly before


class GainBound(Row):
    """When sets that have got room back can take a chunk for so long, at the earliest."""

    time: float  # a bound from below; -inf: not known
    first: int  # the first of the gains that are counted in
    last: int  # the one after the last
    gains: int  # of so many GPUs up to then
    changes: int  # of node sets, when all of these were last looked at


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
    size: int  # -1: not made yet


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
