"""The rows of the simulator's tables, and the world: one record with the address of each.

Sizes of tables are written beside their addresses.
"""

from __future__ import annotations

from dovetail.domain.tables import Row, Word


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
