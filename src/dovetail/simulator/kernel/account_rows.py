"""The rows of accounts and users: shares of a tree, limits, and what they use."""

from __future__ import annotations

from dovetail.compiled.tables import Row


class ShareRow(Row):
    """An account or user of the tree; parents stand before their children."""

    parent: int  # -1: the root
    first: int  # its children, and places for them in `order`
    last: int
    user: bool
    account: int  # row of the accounts; -1: no job is charged to it
    norm: float  # its part of the shares of its siblings; below 0: as its parent
    charge: float  # of what runs, in a second
    since: float  # up to when use has been counted
    usage: float  # decayed; of an account: of all below it
    level: float  # level fair share: norm / its part of the use of its siblings
    order: int  # list kept beside the table: children of each, the next in rank first
    # of the walk, by depth
    place: int
    stop: int
    before: float
    tied: bool


class LimitLink(Row):
    """The most that may be in use at once for jobs of one demand to start."""

    use: int  # where it is counted
    jobs: int
    submitted: int
    gpus: int
    cpus: int
    memory: int
    nodes: int
    # of amounts times seconds
    gpu_work: int
    cpu_work: int
    memory_work: int
    node_work: int
    seconds: int  # the time limit of a job of the demand; below 0: its work is not counted


class LimitUse(Row):
    """What running jobs under one limit have; of those submitted, how many wait or run."""

    jobs: int
    submitted: int
    gpus: int
    cpus: int
    memory: int
    nodes: int
    # of those whose work is counted; what they have times the second at which they have to stop
    timed_gpus: int
    timed_cpus: int
    timed_memory: int
    timed_nodes: int
    gpu_stops: int
    cpu_stops: int
    memory_stops: int
    node_stops: int


class LateJob(Row):
    """A running job that will outlast its time limit, while its work is counted."""

    job: int
    stop: int  # the second at which it should


class Tried(Row):
    """How many jobs of an account a cycle of Slurm's backfill has looked at."""

    cycle: int
    jobs: int
