"""Rows behind EASY reservations: shapes of chunks, their tallies and their calendars."""

from __future__ import annotations

from dovetail.compiled.tables import Row


class Reservation(Row):
    """An EASY reservation: a time and an option. It names no nodes, but how many it can lose."""

    time: float  # when it begins
    estimate: float  # of the job that it is for
    end: float  # of that job, by estimate
    demand: int  # of that job
    option: int  # in which that job is to start
    kinds: int  # bit k: that option may use nodes of kind k
    serial: int  # no other one ever has it
    spare_large: int  # nodes with room for its large chunk then, beyond those that it needs
    spare_small: int  # the same for large and small chunks together
    spent_large: int  # of these, what the chunks already chosen for the job in hand take
    spent_small: int
    tally: int  # the last shape that has been counted for it; -1: none
    barren: int  # the last of these that no node is left for; -1: none


class ChunkShape(Row):
    """Chunks that ask for the same of the same nodes, and how many nodes have room for one now.

    What can never run short on any of these nodes is left out.
    """

    kinds: int  # bit k: may use nodes of kind k; not a Chunk with more behind it, for Numba
    gpus: int
    cpus: int
    memory: int
    free: int  # nodes with room now, beside those that its block counts
    block: int  # -1: none
    watcher: int  # whose calendar is this shape's; -1: none
    asked: int  # entries of the log of changed nodes when it was last asked for
    scans: int  # how often since, for want of a calendar


class ShapeGroup(Row):
    """Shapes that may use nodes of a kind and ask for as many GPUs and CPUs."""

    gpus: int
    cpus: int
    first: int  # kind_shapes[first:last], by memory
    last: int


class ShapeBlock(Row):
    """SHAPE_BLOCK neighbours among the shapes of a kind; what all of them gain is counted here."""

    free: int
    alone: bool  # none of them may use other kinds, too


class KindShape(Row):
    memory: int
    shape: int


class Tally(Row):
    """Nodes with room for a shape where a chunk, if it ends too late, costs the reserved job a node
    for a large chunk, for a small one, for both."""

    serial: int  # the reservation that it was counted for
    next: int  # the shape that was counted before this one; -1: none
    next_barren: int  # the one before that no node was left for; -1: none
    lost_large: int
    lost_small: int
    lost_both: int


class Watcher(Row):
    """The calendar of a shape: when nodes that have no room for it now will have, by estimate."""

    shape: int  # -1: none yet
    seen: int  # entries of the log of changed nodes that it has taken in
    used: int  # when it was last asked
    calendar: int  # its first block
    blocks: int  # in use
    block_limit: int


class ReadyTime(Row):
    """When a node has room by estimate; -inf: now."""

    time: float


class Release(Row):
    """The first and the last estimated end of a job on a node, and what is free of it now.

    A chunk that does not fit now has room at one of them or in between.
    """

    first: float
    last: float
    kind: int
    gpus: int
    cpus: int
    memory: int


class LastRelease(Row):
    """What is free of a node before its last job ends."""

    memory: int  # in another order than a Chunk, for Numba
    cpus: int
    gpus: int


class NodeChange(Row):
    node: int


class Block(Row):
    """Neighbouring entries of a calendar."""

    first: float  # time of its first entry
    entries: int
    place: int  # of its entries


class Entry(Row):
    """So many nodes have room from this time on."""

    time: float
    nodes: int
