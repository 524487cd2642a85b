"""The simulator's state: tables of rows behind one record, the world.

Kernels take the world `w` (a pointer) and reach rows through the accessors at the end of this file:
`node(w, 3).gpus`, `demand(w, d).low`. Sizes of tables are written beside their addresses.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import carray, types

from dovetail.domain.compiled import inner
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import AccountFacts, ClusterFacts, DemandFacts, History, JobFacts
from dovetail.domain.tables import Row, Word, column_address, dtype_of, row_accessor


class World(Row):
    """All scalars, and the address of every table."""

    # scalars
    now: float
    job_count: int
    node_count: int
    kind_count: int
    account_count: int
    demand_count: int
    most_gpus: int  # GPUs of the largest node
    events: int  # so far
    submitted: int  # row of the next job to be submitted
    pending: int  # entries of the event heap
    free_gpus: int
    stranded_gpus: int  # free GPUs on partly used nodes
    stranded_area: float  # integral over time of their share of the free GPUs
    parts: int  # chunks started so far
    active_count: int  # demands with waiting jobs
    stale_count: int  # nodes with stale release times
    reserved_count: int  # nodes under an EASY reservation
    reservation_count: int
    hold_count: int  # conservative holds
    charged: bool  # accounts are charged for their GPUs: the ordering looks at them
    history_levels: int  # groups that a job belongs to
    history_count: int  # groups in all
    history_ring: int  # run times kept of a group
    taste_count: int  # parameters of the placement
    looks_at_time: bool  # the placement prefers nodes by how long they stay busy
    checked: bool  # look after every EASY pass whether a reserved job was delayed
    delayed: int  # reserved jobs that were
    planner: int  # address of a function that picks nodes for a job; 0: none
    # addresses
    cluster: int  # [1] ClusterFacts
    jobs: int  # [jobs] JobFacts
    accounts: int  # [accounts] AccountFacts
    runs: int  # [jobs] Run
    nodes: int  # [nodes] Node
    slots: int  # [nodes * most GPUs] Slot
    reserves: int  # [nodes] Reserve
    kinds: int  # [kinds] Kind
    members: int  # [nodes] Member: the nodes of each kind, ascending
    levels: int  # [kinds * (most GPUs + 1)] Level
    words: int  # bitmaps over the members of a kind
    releases: int  # [nodes * (most GPUs + 1)] Release
    matches: int  # tournament trees
    frontier: int  # search in these trees
    demands: int  # [demands] Demand
    demand_facts: int  # [demands] DemandFacts
    options: int  # [options] Option
    chunks: int  # [2 * options] Chunk: large, small
    waiting: int  # [jobs] int64 rows of waiting jobs, a list per demand
    scores: int  # [jobs] float64, beside `waiting`
    gates: int  # [jobs] float64, beside `waiting`: below 0, may not be backfilled
    keeps: int  # [jobs] float64, beside `waiting`: GPUs to be left free
    gathered: int  # [jobs] int64 rows of all waiting jobs, for one call of the score function
    gathered_scores: int  # [jobs] float64
    gathered_gates: int  # [jobs] float64
    gathered_keeps: int  # [jobs] float64
    pending_events: int  # [2 * jobs] Event
    part_table: int  # [parts] Part
    holds: int  # [parts] Hold
    reservations: int  # [kinds] Reservation
    seen: int  # [most GPUs + 1] int64 submitted jobs by their largest chunk
    taste: int  # [taste_count] float64 parameters of the placement
    history_groups: int  # the columns of a History
    history_limit: int
    history_recent: int
    history_total: int
    scratch_row: int  # [1] int64
    scratch_score: int  # [3] float64: score, gate, keep


class Run(Row):
    """What happens to a job; policies do not see this."""

    run: float  # true run time at speed 1
    start: float
    end: float
    length: float  # estimated, on the GPUs that it got, doubled by overruns
    expected: float  # estimated end
    demand: int  # -1: rejected
    part_first: int  # its chunks in the parts table
    part_count: int
    backfilled: bool


class Node(Row):
    """A node now: gpus, cpus (thousandths) and memory (MB) are what is free."""

    gpus: int
    cpus: int
    memory: int
    bits: Word  # bit g: GPU g is free
    kind: int
    place: int  # among the nodes of its kind
    switch: int
    running: int  # slots in use
    used_by: int  # the last gang that picked it, so that gangs spread
    hold: int  # its first conservative hold; -1: none
    stale: bool  # release times no longer right
    # lists kept beside the table: entry i belongs to position i, not to node i
    picked: int  # nodes for the job in hand
    stale_node: int
    reserved_node: int
    room: int  # nodes for the gang in hand on switch i
    taken_switch: int  # switches chosen for it


class Slot(Row):
    """What one running job holds of a node."""

    job: int
    gpus: int
    cpus: int
    memory: int


class Reserve(Row):
    """A node's part in an EASY reservation; gpus, cpus, memory: what later jobs may still take."""

    time: float  # inf: not reserved
    gpus: int
    cpus: int
    memory: int


class Reservation(Row):
    """An EASY reservation."""

    time: float  # when it begins
    demand: int  # of the job that it is for


class Kind(Row):
    """Nodes that differ in name and switch only."""

    gpus: int  # of one node
    free: int  # GPUs, on all of them
    first: int  # its members are members[first:last]
    last: int
    words: int  # of one bitmap over its members
    leaves: int  # of one tree over its members, a power of two
    reserved: float  # when the EASY reservation that may use it begins; inf: none


class Member(Row):
    node: int


class Level(Row):
    """Nodes of a kind with so many free GPUs."""

    count: int
    word_first: int  # their bitmap
    tree: int  # tree over release times of so many GPUs; -1: no chunk has this size
    lost: int  # reserved nodes with so many GPUs free, but not for jobs that end later


class Bitmap(Row):
    bits: Word


class Release(Row):
    """When something is free by estimate; -inf: now."""

    time: float


class Match(Row):
    """The winner of one match of a tournament; -1: nobody played."""

    node: int


class Frontier(Row):
    """A subtree under its winner (at: its match), or a node with its exact time (at: -1)."""

    time: float
    node: int
    at: int


class Demand(Row):
    """Jobs that ask for the same: where they may run, the list of those that wait."""

    kinds: int  # bit k: may use nodes of kind k
    speed: float  # of its fastest option
    option_first: int
    option_last: int
    first: int  # where its list may begin
    low: int  # where it lies now: waiting[low:high]
    high: int
    shortest: float  # no waiting job has a lower estimate
    active_at: int  # position in the list of active demands; -1: nothing waits
    queued_gpus: int  # of its waiting jobs
    # during a pass
    fits: bool  # one of its jobs could be placed now
    behind: bool  # a job with a reservation stands before it: what starts is backfilled
    open: bool  # still to be considered
    cursor: int  # its next job, as a position in `waiting`
    cursor_score: float
    latest_end: float  # a job that ends later would delay a reservation
    # list kept beside the table
    active: int


class Option(Row):
    """One way to run a demand."""

    group: int
    many: int  # large chunks
    few: int  # small chunks
    large_kinds: int  # bit k: a node of kind k can ever host a large chunk
    small_kinds: int
    speed: float


class Chunk(Row):
    gpus: int
    cpus: int
    memory: int


class Event(Row):
    time: float
    code: int  # job: completion; jobs + job: overrun


class Part(Row):
    """A chunk of a started job."""

    node: int
    gpus: Word


class Hold(Row):
    """A conservative reservation on one node, over [begin, end)."""

    next: int
    begin: float
    end: float
    gpus: int
    cpus: int
    memory: int


job_facts = row_accessor(World, "jobs", JobFacts)
account = row_accessor(World, "accounts", AccountFacts)
cluster_facts = row_accessor(World, "cluster", ClusterFacts)
demand_facts = row_accessor(World, "demand_facts", DemandFacts)
run_of = row_accessor(World, "runs", Run)
node = row_accessor(World, "nodes", Node)
slots = row_accessor(World, "slots", Slot)
reserve = row_accessor(World, "reserves", Reserve)
kind = row_accessor(World, "kinds", Kind)
member = row_accessor(World, "members", Member)
levels = row_accessor(World, "levels", Level)
bitmap = row_accessor(World, "words", Bitmap)
releases = row_accessor(World, "releases", Release)
match = row_accessor(World, "matches", Match)
frontier = row_accessor(World, "frontier", Frontier)
demand = row_accessor(World, "demands", Demand)
option = row_accessor(World, "options", Option)
chunks = row_accessor(World, "chunks", Chunk)
event = row_accessor(World, "pending_events", Event)
part = row_accessor(World, "part_table", Part)
hold = row_accessor(World, "holds", Hold)
reservation = row_accessor(World, "reservations", Reservation)

_jobs = column_address(World, "jobs", numba.from_dtype(dtype_of(JobFacts)))
_accounts = column_address(World, "accounts", numba.from_dtype(dtype_of(AccountFacts)))
_demand_facts = column_address(World, "demand_facts", numba.from_dtype(dtype_of(DemandFacts)))
_cluster = column_address(World, "cluster", numba.from_dtype(dtype_of(ClusterFacts)))
_waiting = column_address(World, "waiting", types.int64)
_scores = column_address(World, "scores", types.float64)
_gates = column_address(World, "gates", types.float64)
_keeps = column_address(World, "keeps", types.float64)
_gathered = column_address(World, "gathered", types.int64)
_gathered_scores = column_address(World, "gathered_scores", types.float64)
_gathered_gates = column_address(World, "gathered_gates", types.float64)
_gathered_keeps = column_address(World, "gathered_keeps", types.float64)
_seen = column_address(World, "seen", types.int64)
_taste = column_address(World, "taste", types.float64)
_history_groups = column_address(World, "history_groups", types.int64)
_history_limit = column_address(World, "history_limit", types.float64)
_history_recent = column_address(World, "history_recent", types.float64)
_history_total = column_address(World, "history_total", types.int64)
_scratch_row = column_address(World, "scratch_row", types.int64)
_scratch_score = column_address(World, "scratch_score", types.float64)


@inner
def slot(w: World, node: int, at: int) -> Slot:
    return slots(w, node * w.most_gpus + at)


@inner
def level(w: World, kind: int, gpus: int) -> Level:
    return levels(w, kind * (w.most_gpus + 1) + gpus)


@inner
def release(w: World, node: int, gpus: int) -> Release:
    return releases(w, node * (w.most_gpus + 1) + gpus)


@inner
def large(w: World, option: int) -> Chunk:
    return chunks(w, 2 * option)


@inner
def small(w: World, option: int) -> Chunk:
    return chunks(w, 2 * option + 1)


@inner
def waiting(w: World) -> Ints:
    return carray(_waiting(w), (w.job_count,))


@inner
def scores(w: World) -> Floats:
    return carray(_scores(w), (w.job_count,))


@inner
def gates(w: World) -> Floats:
    return carray(_gates(w), (w.job_count,))


@inner
def keeps(w: World) -> Floats:
    return carray(_keeps(w), (w.job_count,))


@inner
def gathered(w: World) -> tuple[Ints, Floats, Floats, Floats]:
    """Rows, scores, gates and keeps of all waiting jobs, side by side."""
    shape = (w.job_count,)
    return (
        carray(_gathered(w), shape),
        carray(_gathered_scores(w), shape),
        carray(_gathered_gates(w), shape),
        carray(_gathered_keeps(w), shape),
    )


@inner
def seen(w: World) -> Ints:
    return carray(_seen(w), (w.most_gpus + 1,))


@inner
def taste(w: World) -> Floats:
    return carray(_taste(w), (w.taste_count,))


@inner
def jobs(w: World) -> Any:
    return carray(_jobs(w), (w.job_count,))


@inner
def accounts(w: World) -> Any:
    return carray(_accounts(w), (w.account_count,))


@inner
def all_demand_facts(w: World) -> Any:
    return carray(_demand_facts(w), (w.demand_count,))


@inner
def cluster(w: World) -> Any:
    return carray(_cluster(w), (1,))


@inner
def history(w: World) -> History:
    """Run times seen so far; passed along with the rules it cost a third of the speed."""
    return History(
        carray(_history_groups(w), (w.job_count, w.history_levels)),
        carray(_history_limit(w), (w.job_count,)),
        carray(_history_recent(w), (w.history_count, w.history_ring)),
        carray(_history_total(w), (w.history_count,)),
    )


@inner
def scratch_row(w: World) -> Ints:
    return carray(_scratch_row(w), (1,))


@inner
def scratch_score(w: World) -> Floats:
    return carray(_scratch_score(w), (3,))


NO_RESERVATION = np.inf
"""Reserve.time of a node that nobody waits for."""
