"""The rows of the simulator's tables, and the world: one record with the address of each.

Sizes of tables are written beside their addresses.
"""

from __future__ import annotations

from dovetail.compiled.tables import Row, Word


class World(Row):
    """All scalars, and the address of every table."""

    # scalars
    now: float
    job_count: int
    node_count: int
    kind_count: int
    account_count: int
    demand_count: int
    kind_set_count: int
    most_gpus: int  # GPUs of the largest node
    most_slots: int  # jobs that a node can have at once
    events: int  # so far
    submitted: int  # row of the next job to be submitted
    pending: int  # entries of the event heap
    free_gpus: int
    stranded_gpus: int  # free GPUs on partly used nodes
    stranded_area: float  # integral over time of their share of the free GPUs
    parts: int  # chunks started so far
    active_count: int  # demands with waiting jobs
    passes: int  # so far
    by_scan: bool  # in this pass all demands are looked at for the next job: they are few
    passer_count: int  # demands that may pass a reserved job
    aside_count: int  # demands left out of the pass in hand
    chain_count: int
    stale_count: int  # nodes with stale release times
    reservation_count: int
    hold_count: int  # holds of this cycle
    opening_heap_count: int  # of this cycle
    beyond_count: int  # found in this cycle
    search: int  # number of the search for nodes in hand
    mixed: bool  # some chunk has no GPUs
    limited: bool  # some demand has a limit
    # limits of work, amounts times the time that running jobs have left
    timed: bool  # some demand has one
    first_time: float  # from which whole seconds are counted
    late_count: int  # running jobs that will outlast their time limits
    next_late: int  # the second at which the first of these does
    linked: bool  # some job waits for others before it may run
    # nodes that are not there for a while
    eventful: bool  # some node is
    requeues: bool  # jobs of a failed node begin again
    node_events_left: int  # on the event heap
    closure_count: int  # reservations of nodes, node by node
    closures_begun: int  # of these, those that have begun
    first_hold: float  # no node is kept for anything from an earlier time on; inf: none is
    tier_count: int  # of partitions: all jobs of one go before those of the next
    changed: int  # entries of the log of changed nodes, so far
    shape_count: int
    watcher_count: int
    watches: int  # how often calendars were asked, so far
    reservations_made: int  # so far
    charged: bool  # accounts are charged for their GPUs: the ordering looks at them
    revision_count: int  # of each job; 0: what has been outlived is doubled
    used_size: int  # 1/1024 of the sizes of running jobs, kept where accounts are charged
    used_since: int  # these times the second in which each began
    used_until: int  # these times the second in which each is expected to end
    # the tree of accounts
    share_count: int  # 0: there is no tree
    share_users: int
    share_period: float  # seconds between two calculations
    last_shares: float  # when the last one was
    history_levels: int  # groups that a job belongs to
    history_count: int  # groups in all
    history_ring: int  # run times kept of a group
    placement_parameter_count: int  # parameters of the placement
    looks_at_time: bool  # the placement prefers nodes by how long they stay busy
    checked: bool  # look after every EASY pass whether a reserved job was delayed
    delayed: int  # reserved jobs that were
    # Slurm's backfill cycles
    cycle_interval: float
    cycle_resolution: float
    cycle_window: float  # seconds
    cycle_jobs: int  # looked at in one cycle
    cycle_user_jobs: int  # of one user; 0: as many as there are
    cycle: int  # number of the last one
    last_cycle: float  # when it was
    news: bool  # something has happened since
    hopeful: int  # the demand that was last found to have a job that could start in a cycle
    # the plan of the last cycle, where it is kept
    plan_stands: bool  # the next cycle may go on with it
    plan_until: float  # up to this time
    plan_jobs: int  # that it has looked at and that still wait
    plan_kinds: int  # bit k: one of them may use nodes of kind k
    plan_tier: int  # of the last of them, as its score and its row
    plan_score: float
    plan_job: int
    plan_holds: int
    plan_first_hold: float
    closed_kinds: int  # bit k: in this pass nothing more starts on nodes of kind k
    planner: int  # address of a function that picks nodes for a job; 0: none
    ranker: int  # address of a function that ranks classes of nodes; 0: none
    assigner: int  # address of a function that starts jobs of one GPU or lets them wait; 0: none
    assigned_at: float  # when it said last that nothing more starts at that moment
    class_count: int  # classes of nodes found by the search in hand
    # conservative backfilling: promises and what they leave
    set_count: int  # node sets; 0: nobody is promised anything
    promising: bool  # what starts must leave room for promises
    ended: bool  # a job has ended since the last pass
    extended: bool  # promises have to be made anew: an estimate proved too short, or none are there
    planned: int  # jobs submitted before the last pass
    next_promise: float  # no promise is for an earlier time
    gains: int  # how often a set has got room back
    settled: int  # how often when promises were last looked at, all of them
    looked_from: int  # and the time before
    set_changes: int  # how often what is left of a set has changed
    line_count: int  # jobs with promises that stand in line
    steps_used: int  # of the table of steps
    free_step: int  # first of those given back; -1: none
    claims_used: int
    free_claim: int
    first_started: int  # jobs started in this pass, linked; -1: none
    # addresses
    cluster: int  # [1] ClusterFacts
    jobs: int  # [jobs] JobFacts
    accounts: int  # [accounts] AccountFacts
    shares: int  # [accounts and users of the tree] ShareRow
    runs: int  # [jobs] RunRow
    nodes: int  # [nodes] NodeRow
    slots: int  # [nodes * most slots] Slot
    kinds: int  # [kinds] KindRow
    members: int  # [nodes] Member: the nodes of each kind, ascending
    levels: int  # [kinds * (most GPUs + 1)] Level
    words: int  # bitmaps over the members of a kind
    shapes: int  # [shapes] ChunkShape
    shape_groups: int  # ShapeGroup: for each kind
    shape_blocks: int  # ShapeBlock: of every so many kind shapes
    kind_shapes: int  # KindShape: the shapes that may use each kind, group by group
    tallies: int  # [kinds * shapes] Tally: a row for each reservation
    watchers: int  # [watchers] Watcher
    ready_times: int  # [watchers * nodes] ReadyTime
    releases: int  # [nodes] Release
    last_releases: int  # [nodes] LastRelease
    change_log: int  # [nodes] NodeChange: the last nodes that changed, in a ring
    blocks: int  # calendars: sorted times, in blocks of entries
    entries: int
    candidates: int  # [nodes] Candidate: scratch of searches for the n-th earliest node
    demands: int  # [demands] Demand
    demand_facts: int  # [demands] DemandFacts
    limit_links: int  # LimitLink: the limits of each demand
    limit_uses: int  # LimitUse
    late_jobs: int  # [jobs, where some demand has a limit of work] LateJob
    tried: int  # [accounts] Tried
    eligibility: int  # [jobs] EligibilityRow
    dependency_links: int  # DependencyLink: who waits for each job
    arrays: int  # [throttled arrays] ArrayRow
    array_tasks: int  # ArrayTask: their jobs
    node_events: int  # [node events] NodeChangeEvent
    closures: int  # [closures] Closure
    kind_sets: int  # [distinct kinds of demands] KindSet
    turns: int  # [2 * demands] Turn: a heap for each kind set, one for those that may pass
    needs: int  # [distinct needs of options] Need
    need_chains: int  # [chains] NeedChain
    need_words: int  # NeedWord: those of each chain
    options: int  # [options] OptionRow
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
    opening_heaps: int  # [HEAPS] OpeningHeap
    openings: int  # [HEAPS * nodes] Opening
    beyonds: int  # [beyond.MOST] Beyond
    first_holds: int  # [nodes] float64, in a cycle: when the first hold of a node begins; inf: none
    last_holds: int  # [nodes] float64: when the last one ends; -inf: none
    hold_gaps: int  # [nodes] float64: the longest time between two that follow each other
    begins: int  # [nodes] float64: times that suit the nodes, in the search in hand
    node_sets: int  # [node sets] NodeSet
    claimants: int  # [node sets] int64: the job that was last found to have claims there
    gained_at: int  # [node sets] int64: the last of the gains that was its
    gains_by: int  # [most GPUs + 1] int64: gains with so many GPUs at some moment
    slot_counts: int  # [SLOTS + 1] int64: nodes that could begin with a chunk
    changed_at: int  # [node sets] int64: the last of the changes that was its
    changed_sets: int  # [CHANGE_LOG] int64: the last sets that have changed, in a ring
    rooms_known: int  # beside first_rooms, int64: changes when that was looked for
    rooms_seen: int  # [most GPUs + 1] int64: changes when that was last done for all sets
    gain_bounds: int  # [distinct chunks and lengths] GainBound
    line: int  # [jobs] int64: jobs with promises, in order
    first_rooms: int  # [(most GPUs + 1) * node sets] float64: when a set first has so many left
    first_ends: int  # beside: up to when it then has; inf: always
    second_rooms: int  # beside: when it has for the second time; inf: never
    last_rooms: int  # beside: from when on it always has
    room_gaps: int  # beside: for how long at most before
    steps: int  # [2 * parts + 3 * node sets] Step
    promises: int  # [jobs] Promise
    claims: int  # [parts] Claim
    node_classes: int  # [CLASSES] NodeClassFacts, where a placement ranks them
    class_slots: int  # [kinds * (most GPUs + 1) * KEYS] ClassSlot
    gain_log: int  # [GAIN_LOG] Gain: the last of the gains, in a ring
    reservations: int  # [kinds] Reservation
    seen: int  # [most GPUs + 1] int64 submitted jobs by their largest chunk
    placement_parameters: int  # [placement_parameter_count] float64 parameters of the placement
    revisions: int  # [jobs * revision_count] Revision
    history_groups: int  # the columns of a History
    history_limit: int
    history_recent: int
    history_total: int
    scratch_row: int  # [1] int64
    scratch_score: int  # [3] float64: score, gate, keep
    kept_rules: int  # Rules, where a part needs them
    # parts that not all simulations need (part_calls.py); 0: this one does not
    at_limit_part: int
    is_refused_part: int
    close_limited_part: int
    count_running_part: int
    count_submitted_part: int
    pass_held_part: int
    note_moment_part: int
    happen_part: int
    withdraw_part: int
    reopening_part: int
    reserved_begin_part: int
    count_unplanned_part: int
    calculate_shares_part: int
    charge_share_part: int
    note_promised_end_part: int
    leaves_room_part: int
    enough_room_part: int
    describe_part: int
    choose_switches_part: int
    place_by_rank_part: int
    has_choice_part: int


class RunRow(Row):
    """What happens to a job; policies do not see this."""

    run: float  # true run time at speed 1
    start: float
    end: float
    length: float  # estimated, on the GPUs that it got, revised as it runs on
    expected: float  # estimated end
    demand: int  # -1: rejected
    part_first: int  # its chunks in the parts table
    part_count: int
    share: int  # its user in the tree of accounts; -1: in none
    charge: float  # what that is charged in a second while it runs
    backfilled: bool
    refused: bool  # on submission: as many as may be submitted were
    restarts: int  # how often a node failed under it
    speed: float  # of the GPUs that it got
    revised: int  # how often what is believed of it was looked up anew


class Revision(Row):
    seconds: float  # at speed 1: what a running job is then believed to take


class NodeRow(Row):
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
    hold: int  # its first hold; -1: none
    closed: bool  # it takes no jobs: nothing of it counts as free
    outages: int  # that keep it closed now
    reservations: int
    reserved_until: float  # end of the last of the reservations that have begun
    reopens: float  # when it takes jobs again, as far as anybody knows; inf: nobody does
    node_set: int  # the set in which promises count it
    stale: bool  # its slots may be out of order
    # what it has at the time of a reservation, if nothing new starts
    later_of: int  # that reservation; 0: not known
    later_gpus: int
    later_cpus: int
    later_memory: int
    # lists kept beside the table: entry i belongs to position i, not to node i
    picked: int  # nodes for the job in hand
    stale_node: int
    room: int  # nodes for the gang in hand on switch i
    taken_switch: int  # switches chosen for it


class Slot(Row):
    """What one running job holds of a node."""

    job: int
    gpus: int
    cpus: int
    memory: int


class KindRow(Row):
    """Nodes that differ in name and switch only."""

    gpus: int  # of one node
    cpus: int
    memory: int
    free: int  # GPUs, on all of them
    idle: int  # nodes without jobs, closed ones not among them
    closed: int  # GPUs of closed nodes that no job has
    first: int  # its members are members[first:last]
    last: int
    words: int  # of one bitmap over its members
    reserved: float  # when the EASY reservation that may use it begins; inf: none
    reservation: int  # its number
    group_first: int  # shape_groups[group_first:group_last] may use it
    group_last: int


class Member(Row):
    node: int


class Level(Row):
    """Nodes of a kind with so many free GPUs."""

    count: int
    word_first: int  # their bitmap
    search: int  # the last search for nodes that looked here
    cursor: int  # how far it came, as a place among the nodes of the kind
    preference: float  # what the placement thinks of such nodes in that search


class Bitmap(Row):
    bits: Word


class Event(Row):
    time: float
    code: int  # job: completion; jobs + job: overrun; 2 * jobs + job: it may run now;
    # 3 * jobs + number: an event of a node


class Part(Row):
    """A chunk of a started job."""

    node: int
    gpus: Word
