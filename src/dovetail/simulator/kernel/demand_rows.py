"""The rows of what jobs ask for: demands, their ways to run, and what these need of a node."""

from __future__ import annotations

from dovetail.compiled.tables import Row


class Demand(Row):
    """Jobs that ask for the same: where they may run, the list of those that wait."""

    # first what every pass looks at: it stands together in memory
    kinds: int  # bit k: may use nodes of kind k
    gpus: int  # of one of its jobs, on all nodes together
    speed: float  # of its fastest option
    kind_set: int  # the row of its kinds among all distinct ones
    option_first: int
    option_last: int
    low: int  # where its list lies now: waiting[low:high]
    high: int
    queued_gpus: int  # of its waiting jobs
    shortest: float  # no waiting job has a lower estimate
    active_at: int  # position in the list of active demands; -1: nothing waits
    active: int  # a list kept beside the table: entry i belongs to position i, not to demand i
    # during a pass
    fits: bool  # one of its jobs could be placed now
    open: bool  # still to be considered
    passing: bool  # jobs of it are being passed over, as they would leave too few GPUs free
    behind: int  # the last pass in which a job with a reservation stood before it
    cursor: int  # its next job, as a position in `waiting`
    cursor_score: float
    latest_end: float  # a job that ends later would delay a reservation
    passer: int  # place in the heap of those that may pass; -1: none
    aside: int  # a list kept beside the table
    refused_in: int  # the last cycle of Slurm's backfill in which a job of it could not start
    refused: float  # the lowest estimate of such a job
    turn: int  # place in the heap of its kind set; -1: none
    tier: int  # of its partition: 0 goes first
    first: int  # where its list may begin
    plannable: bool  # plans may look at it: it has GPUs, and as many in each option
    partition_kinds: int  # bit k: kind k belongs to its partition
    account: int  # of its first job
    # its limits, and what one of its jobs counts for there
    link_first: int
    link_last: int
    gpus_asked: int
    cpus_asked: int
    memory_asked: int
    nodes_asked: int


class KindSet(Row):
    """What a policy is told of the kinds that some demands may use, at a pass."""

    kinds: int
    free_gpus: int
    idle_nodes: int
    own_gpus: int  # asked for by waiting jobs that may use just these
    queued_gpus: int  # by all that may use any of these
    turn_first: int  # its heap
    turn_count: int
    closed: int  # the last pass that left it out


class OptionRow(Row):
    """One way to run a demand."""

    group: int
    many: int  # large chunks
    few: int  # small chunks
    large_kinds: int  # bit k: a node of kind k can ever host a large chunk
    small_kinds: int
    speed: float
    charge: float  # what a job in it is charged in a second, where there is a tree
    large_shape: int
    small_shape: int
    demand: int
    need: int
    # others with waiting jobs and the same need; -1: none
    next: int
    previous: int


class Chunk(Row):
    gpus: int
    cpus: int
    memory: int
