"""Fresh tables for a simulation."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dovetail.compiled.parts import OptionalPart
from dovetail.compiled.tables import Table, dtype_of, new_table
from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import UNKNOWN, Floats, Ints, Jobs
from dovetail.domain.policy import (
    AccountFacts,
    Backfill,
    BackfillRule,
    ClusterFacts,
    DemandFacts,
    History,
    Ordering,
    Placement,
    SlurmBackfill,
    Varies,
)
from dovetail.simulator.fair_tree import add_tree, share_tables
from dovetail.simulator.job_facts import job_facts_of
from dovetail.simulator.kernel import (
    account_rows,
    demand_rows,
    promise_rows,
    queue_rows,
    reservation_rows,
    rows,
)
from dovetail.simulator.kernel.beyond import MOST as MOST_BEYOND
from dovetail.simulator.kernel.openings import HEAPS
from dovetail.simulator.kernel.parts import FACTS, LIMITS, SWITCHES
from dovetail.simulator.layout import Kind, Option, demands_of, exclusive_of
from dovetail.simulator.limits import NO_LIMIT, layout_limits
from dovetail.simulator.needs import need_tables
from dovetail.simulator.node_tables import kind_tables, level_tables, node_table
from dovetail.simulator.partitions import kinds_beside, partition_kinds, tiers_of
from dovetail.simulator.shapes import shape_tables
from dovetail.simulator.wishes import settle_wishes

REVISING = (Backfill.NONE, Backfill.EASY)
"""Ways of backfilling under which estimates are revised as jobs run on: the others keep plans, each
of which would have to be made anew."""

WORLD_COLUMNS = frozenset(dtype_of(rows.World).names or ())


class Tables:
    """Owns the memory of one simulation; `world` is what kernels get."""

    # Placements that rank classes of nodes only (node_classes.py).
    node_classes: Table
    class_slots: Table

    # Jobs that wait for others only (eligibility.py).
    eligibility: Table
    dependency_links: Table
    arrays: Table
    array_tasks: Table

    # Nodes that are not always there only (outages.py).
    node_events: Table
    closures: Table

    # Conservative backfilling only (node_sets.py).
    node_sets: Table
    steps: Table
    promises: Table
    claims: Table
    gain_log: Table
    claimants: Ints
    gained_at: Ints
    gains_by: Ints
    slot_counts: Ints
    changed_at: Ints
    changed_sets: Ints
    rooms_known: Ints
    rooms_seen: Ints
    gain_bounds: Table
    line: Ints
    first_rooms: Floats
    last_rooms: Floats
    room_gaps: Floats
    first_ends: Floats
    second_rooms: Floats

    def __init__(
        self,
        jobs: Jobs,
        cluster: Cluster,
        ordering: Ordering,
        placement: Placement,
        estimates: Estimates,
        history: History | None = None,
        backfill: BackfillRule = Backfill.EASY,
    ) -> None:
        wishes = settle_wishes(jobs, cluster)
        jobs, kinds, self.site = wishes.jobs, wishes.kinds, wishes.site
        nodes = self.site.cluster.nodes
        user_count, user = _accounts(jobs)
        tree = share_tables(jobs, cluster) if ordering.half_life > 0 else None
        account_count, account = (user_count, user) if tree is None else tree.accounts
        apart = [account, jobs.qos.codes] if ordering.varies is Varies.BETWEEN_ACCOUNTS else []
        if isinstance(backfill, SlurmBackfill) and backfill.max_job_user:
            apart = [user, *apart]
        demands = demands_of(jobs, self.site.cluster, kinds, placement, apart)
        of_job, every, self.rejected = demands.of_job, demands.options, demands.rejected
        self.refused_wishes = wishes.refused(demands)
        most = max(kind.gpus for kind in kinds)
        parts = _most_parts(of_job, every)
        levels, words = level_tables(kinds, most)
        options, chunks = _options(every)
        shapes = shape_tables(options, chunks, kinds)
        needed = need_tables(options, shapes.shapes)
        self.jobs = job_facts_of(jobs, cluster, estimates, account)
        self.jobs["demand"] = of_job
        self.exclusive = exclusive_of(jobs, cluster)
        self.accounts = new_table(AccountFacts, account_count)
        self.accounts["fair_share"] = 1.0
        self.cluster = new_table(ClusterFacts, 1)
        self.cluster["now"] = self.cluster["origin"] = jobs.submit[0]
        self.cluster["total_gpus"] = cluster.total_size
        self.runs = _runs(jobs, of_job)
        self.shares = new_table(account_rows.ShareRow, 0) if tree is None else tree.shares
        self.nodes = node_table(self.site.cluster, kinds)
        slots = most + _most_without_gpus(of_job, every, kinds)
        self.slots = new_table(rows.Slot, len(nodes) * slots)
        self.kinds, self.members = kind_tables(kinds)
        self.levels, self.words = levels, words
        self.kinds["group_first"], self.kinds["group_last"] = shapes.first, shapes.last
        self.shapes, self.shape_groups = shapes.shapes, shapes.groups
        self.kind_shapes, self.tallies = shapes.of_kind, shapes.tallies
        self.shape_blocks = shapes.shape_blocks
        self.watchers, self.ready_times = shapes.watchers, shapes.ready_times
        self.blocks, self.entries = shapes.blocks, shapes.entries
        self.releases = new_table(reservation_rows.Release, len(nodes))
        for what in ("kind", "gpus", "cpus", "memory"):
            self.releases[what] = self.nodes[what]
        self.last_releases = new_table(reservation_rows.LastRelease, len(nodes))
        self.change_log = new_table(reservation_rows.NodeChange, len(nodes))
        self.candidates = new_table(promise_rows.Candidate, len(nodes))
        self.demands = _demands(of_job, every)
        first = _first_jobs(of_job, len(every))
        self.demands["account"] = user[first]
        self.demands["tier"] = tiers_of(jobs, cluster)[first]
        self.demands["partition_kinds"] = partition_kinds(jobs, cluster, kinds)[
            first
        ] & kinds_beside(every, kinds)
        self.tried = new_table(account_rows.Tried, user_count)
        limits = _add_limits(self.demands, jobs, cluster, every, first)
        self.limit_links, self.limit_uses, self.late_jobs = limits
        self.demand_facts = _demand_facts(every, kinds)
        self.kind_sets = _kind_sets(self.demands)
        self.turns = new_table(queue_rows.Turn, 2 * len(every))
        self.options, self.chunks = options, chunks
        self.needs, self.need_chains, self.need_words = needed.needs, needed.chains, needed.words
        self.waiting = np.zeros(len(jobs), np.int64)
        self.scores = np.zeros(len(jobs))
        self.gates = np.zeros(len(jobs))
        self.keeps = np.zeros(len(jobs))
        self.gathered = np.zeros(len(jobs), np.int64)
        self.gathered_scores, self.gathered_gates = np.zeros(len(jobs)), np.zeros(len(jobs))
        self.gathered_keeps = np.zeros(len(jobs))
        self.pending_events = new_table(rows.Event, 2 * len(jobs))
        self.part_table = new_table(rows.Part, parts)
        self.holds = new_table(promise_rows.Hold, parts)
        heaps = HEAPS if isinstance(backfill, SlurmBackfill) else 0
        cycled = len(nodes) if isinstance(backfill, SlurmBackfill) else 0
        self.first_holds, self.last_holds = np.full(cycled, np.inf), np.full(cycled, -np.inf)
        self.hold_gaps, self.begins = np.zeros(cycled), np.zeros(cycled)
        self.beyonds = new_table(promise_rows.Beyond, MOST_BEYOND)
        self.opening_heaps = new_table(promise_rows.OpeningHeap, heaps)
        self.openings = new_table(promise_rows.Opening, heaps * len(nodes))
        self.reservations = new_table(reservation_rows.Reservation, len(kinds))
        self.seen = np.zeros(most + 1, np.int64)
        self.placement_parameters = np.append(
            placement.weights, 0.0
        )  # never empty: its address must exist
        past = history or _no_history()
        self.history_groups, self.history_limit = past.groups, past.limit
        self.history_recent, self.history_total = past.recent, past.total
        told = estimates.revisions if backfill in REVISING else estimates.revisions[:, :0]
        self.revisions = new_table(rows.Revision, max(1, told.size))
        self.revisions["seconds"][: told.size] = np.maximum(1.0, told.ravel())
        self.scratch_row, self.scratch_score = np.zeros(1, np.int64), np.zeros(3)

        self.world = new_table(rows.World, 1)
        for name in WORLD_COLUMNS & vars(self).keys():
            self.world[name] = getattr(self, name).ctypes.data
        self.world["revision_count"] = told.shape[1]
        self.world["now"] = jobs.submit[0]
        self.world["assigned_at"] = -np.inf
        self.world["first_time"] = jobs.submit[0]
        self.world["timed"] = bool((self.limit_links["seconds"] >= 0).any())
        self.world["next_late"] = NO_LIMIT
        self.world["job_count"] = len(jobs)
        self.world["node_count"] = len(nodes)
        self.world["kind_count"] = len(kinds)
        self.world["account_count"] = account_count
        self.world["demand_count"], self.world["kind_set_count"] = len(every), len(self.kind_sets)
        self.world["shape_count"], self.world["watcher_count"] = len(shapes.shapes), shapes.watched
        self.world["chain_count"] = needed.chain_count
        self.world["most_gpus"] = most
        self.world["most_slots"] = slots
        self.world["free_gpus"] = self.site.cluster.total_gpus
        self.world["history_levels"] = past.groups.shape[1]
        self.world["history_count"], self.world["history_ring"] = past.recent.shape
        self.world["placement_parameter_count"] = len(placement.weights)
        self.world["looks_at_time"] = placement.uses_time
        self.world["mixed"] = slots > most
        if cluster.limits or cluster.licenses:
            self.world["limited"] = True
            self.use(LIMITS)
        if ordering.uses_state:
            self.use(FACTS)
        if placement.few_switches:
            self.use(SWITCHES)
        self.world["tier_count"] = self.demands["tier"].max() + 1
        if tree is not None:
            add_tree(self, tree, tree.charges(every, first))
        self.world["first_hold"] = np.inf
        self.world["charged"] = ordering.half_life > 0 or ordering.uses_state

    def use(self, parts: Iterable[OptionalPart]) -> None:
        """Let kernels call parts that not all simulations need."""
        for part in parts:
            self.world[part.column] = part.address

    def plan_cycles(self, backfill: SlurmBackfill) -> None:
        """Set the parameters of Slurm's backfill; the first cycle comes an interval from now."""
        self.world["cycle_interval"] = backfill.interval
        self.world["cycle_resolution"] = backfill.resolution
        self.world["cycle_window"] = 60.0 * backfill.window
        self.world["cycle_jobs"] = backfill.max_job_test
        self.world["cycle_user_jobs"] = backfill.max_job_user
        self.world["last_cycle"] = self.world["now"]


def _accounts(jobs: Jobs) -> tuple[int, Ints]:
    """Who is charged for a job: its user, or its partition if the trace names no users."""
    owner = jobs.user if np.any(jobs.user.codes != UNKNOWN) else jobs.partition
    nameless = owner.codes == UNKNOWN
    count = len(owner.values) + int(nameless.any())
    return count, np.where(nameless, count - 1, owner.codes)


def _runs(jobs: Jobs, of_job: Ints) -> Table:
    table = new_table(rows.RunRow, len(jobs))
    table["run"] = jobs.run
    table["start"] = table["end"] = np.nan
    table["demand"] = of_job
    return table


def _options(every: list[list[Option]]) -> tuple[Table, Table]:
    flat = [
        (number, group, option)
        for number, options in enumerate(every)
        for group, option in _grouped(options)
    ]
    table = new_table(demand_rows.OptionRow, len(flat))
    chunks = new_table(demand_rows.Chunk, 2 * len(table))
    for i, (number, group, option) in enumerate(flat):
        table[i] = (
            group, option.many, option.few, option.large_kinds, option.small_kinds, option.speed,
            0.0, -1, -1, number, -1, -1, -1,
        )  # fmt: skip
        chunks[2 * i], chunks[2 * i + 1] = option.large, option.small
    return table, chunks


def _grouped(options: list[Option]) -> list[tuple[int, Option]]:
    """Neighbours of equal rank that need one node share a group number."""
    group, groups = 0, []
    for before, option in zip([None, *options], options, strict=False):
        if before and not (before.nodes == option.nodes == 1 and before.rank == option.rank):
            group += 1
        groups.append((group, option))
    return groups


def _demands(of_job: Ints, every: list[list[Option]]) -> Table:
    table = new_table(demand_rows.Demand, len(every))
    queued = np.bincount(of_job[of_job >= 0], minlength=len(every))
    counts = np.array([len(options) for options in every])
    table["kinds"] = [_union(options) for options in every]
    table["gpus"] = [min((option.gpus for option in options), default=0) for options in every]
    asked = [{option.gpus for option in options} for options in every]
    table["plannable"] = [len(gpus) == 1 and 0 not in gpus for gpus in asked]
    table["speed"] = [max((option.speed for option in options), default=1.0) for options in every]
    table["option_last"] = np.cumsum(counts)
    table["option_first"] = table["option_last"] - counts
    table["first"] = table["low"] = table["high"] = np.cumsum(queued) - queued
    table["shortest"] = np.inf
    for column in ("active_at", "turn", "passer", "behind"):
        table[column] = -1
    return table


def _kind_sets(demands: Table) -> Table:
    """The distinct kinds that demands may use; demands learn their row."""
    distinct, demands["kind_set"] = np.unique(demands["kinds"], return_inverse=True)
    table = new_table(demand_rows.KindSet, len(distinct))
    table["kinds"] = distinct
    sizes = np.bincount(demands["kind_set"])
    table["turn_first"] = np.cumsum(sizes) - sizes
    table["closed"] = -1
    return table


def _demand_facts(every: list[list[Option]], kinds: list[Kind]) -> Table:
    """What never changes of the demand facts: the size of the part of the cluster."""
    table = new_table(DemandFacts, len(every))
    nodes = [len(kind.nodes) for kind in kinds]
    for i, options in enumerate(every):
        allowed = [k for k in range(len(kinds)) if _union(options) >> k & 1]
        table["total_nodes"][i] = sum(nodes[k] for k in allowed)
        table["total_gpus"][i] = max(1, sum(nodes[k] * kinds[k].gpus for k in allowed))
    return table


def _union(options: list[Option]) -> int:
    mask = 0
    for option in options:
        mask |= option.large_kinds | option.small_kinds
    return mask


def _most_parts(of_job: Ints, every: list[list[Option]]) -> int:
    """Chunks that all jobs together can have at most."""
    most = np.array([max((option.nodes for option in options), default=0) for options in every])
    return int(most[of_job[of_job >= 0]].sum())


def _first_jobs(of_job: Ints, demands: int) -> Ints:
    """The first job of each demand; 0 of those that have none."""
    first = np.zeros(demands, np.int64)
    able = np.flatnonzero(of_job >= 0)[::-1]
    first[of_job[able]] = able
    return first


def _add_limits(
    demands: Table, jobs: Jobs, cluster: Cluster, every: list[list[Option]], first: Ints
) -> tuple[Table, Table, Table]:
    """Per demand its limits, what its jobs count for; the counters; room for jobs beyond limits."""
    layout = layout_limits(jobs, cluster)
    if layout is None:
        none = (account_rows.LimitLink, account_rows.LimitUse, account_rows.LateJob)
        links, uses, late = (new_table(row, 0) for row in none)
        links["seconds"] = -1
        return links, uses, late
    demands["gpus_asked"] = jobs.gpus[first]
    demands["cpus_asked"] = np.ceil(jobs.cpus[first] * 1000)
    demands["memory_asked"] = np.ceil(jobs.memory[first] * 1024)
    demands["nodes_asked"] = [options[0].nodes if options else 0 for options in every]
    own = [layout.links[group] for group in layout.of_job[first].tolist()]
    counts = np.array([len(links) for links in own])
    demands["link_last"] = np.cumsum(counts)
    demands["link_first"] = demands["link_last"] - counts
    timed = layout.timed(jobs)
    seconds = np.full(len(first), -1) if timed is None else timed[first]
    table = new_table(account_rows.LimitLink, int(counts.sum()))
    table["seconds"] = -1
    of_link = zip(
        np.repeat(seconds, counts), (link for links in own for link in links), strict=True
    )
    for at, (allowed, link) in enumerate(of_link):
        table[at] = (link.use, *link.most, *link.work, allowed if link.timed else -1)
    late = new_table(account_rows.LateJob, 0 if timed is None else len(jobs))
    return table, new_table(account_rows.LimitUse, layout.uses), late


def _most_without_gpus(of_job: Ints, every: list[list[Option]], kinds: list[Kind]) -> int:
    """Jobs without GPUs that can be on one node together: as many as its CPUs allow."""
    queued = np.bincount(of_job[of_job >= 0], minlength=len(every))
    chunks, most = 0, 0
    for options, jobs in zip(every, queued.tolist(), strict=True):
        for option in options:
            if jobs and option.large[0] == 0:
                chunks += jobs * option.many
                most = max(most, *_cpus_over(option, kinds))
    return min(chunks, most)


def _cpus_over(option: Option, kinds: list[Kind]) -> list[int]:
    return [
        kind.cpus // option.large[1] for k, kind in enumerate(kinds) if option.large_kinds >> k & 1
    ]


def _no_history() -> History:
    """Stands in where nobody asks."""
    return History(np.zeros((1, 1), np.int64), np.zeros(1), np.zeros((1, 1)), np.zeros(1, np.int64))
