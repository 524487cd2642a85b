"""Classes of equal nodes that could take a chunk, and placements that rank them."""

from __future__ import annotations

from dovetail.compiled.calls import call
from dovetail.compiled.functions import inner
from dovetail.compiled.tables import Row, row_accessor
from dovetail.domain.node_classes import CLASSES, NodeClassFacts
from dovetail.simulator.kernel.admission import admissible, forget_spent, option_fits, spend
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.node_search import busy_time, is_better
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import WORST
from dovetail.simulator.kernel.state import (
    demand,
    job_facts,
    kind,
    large,
    member,
    node,
    option,
    run_of,
    small,
)

IDLE, SOON, ALIKE, LATE = range(4)
"""When a node is idle without the job: now; before half of its run; about when it ends; after."""

KEYS = 8
"""Classes of one kind of nodes with so many GPUs free: four times by two for the switch."""

THOUSAND, GIGABYTE = 1000.0, 1024.0
"""CPUs are counted in thousandths, memory in MB."""


class ClassSlot(Row):
    """Where the class of a key stands, if the search in hand has seen it."""

    search: int
    at: int


node_class = row_accessor(World, "node_classes", NodeClassFacts)
class_slot = row_accessor(World, "class_slots", ClassSlot)


@inner
def place_by_rank(w: World, job: int) -> int:
    """Nodes as the placement ranks their classes; returns the option used, or -1."""
    chosen, picked = -1, 0
    while chosen < 0 or picked < option(w, chosen).many + option(w, chosen).few:
        count = gather_classes(w, job, chosen, picked)
        if count == 0:
            give_up(w, job, picked)
            return -1
        call(w.ranker, w.placement_parameters, w.node_classes, count)
        best = 0
        for i in range(count):
            this = node_class(w, i)
            if not this.preference < WORST:  # NaN compares false
                this.preference = WORST
            first = node_class(w, best)
            if i > 0 and is_better(this.preference, this.node, first.preference, first.node):
                best = i
        chosen = pick_from(w, job, best, picked)
        picked += 1
    forget_spent(w)
    return chosen


@inner
def pick_from(w: World, job: int, at: int, picked: int) -> int:
    """Note the first node of a class for the job's next chunk; returns the option."""
    this = node_class(w, at)
    number = this.option
    node(w, picked).picked = this.node
    node(w, this.node).used_by = job
    spend(w, this.node, chunk_of(w, number, picked), w.now + this.run)
    return number


@inner
def give_up(w: World, job: int, picked: int) -> None:
    """Forget the nodes picked so far: what is left does not do for the rest of the gang."""
    for i in range(picked):
        node(w, node(w, i).picked).used_by = -1
    forget_spent(w)


@inner
def chunk_of(w: World, number: int, picked: int) -> Chunk:
    return large(w, number) if picked < option(w, number).many else small(w, number)


@inner
def gather_classes(w: World, job: int, chosen: int, picked: int) -> int:
    """Write the classes for the next chunk of a job; how many. `chosen`: the option, -1: any."""
    w.search += 1
    w.class_count = 0
    mine = demand(w, run_of(w, job).demand)
    if chosen >= 0:
        _gather_option(w, job, chosen, picked)
    else:
        for number in range(mine.option_first, mine.option_last):
            end = w.now + job_facts(w, job).reserve / option(w, number).speed
            if option_fits(w, number, end):
                _gather_option(w, job, number, picked)
    for i in range(w.class_count):
        node_class(w, i).busy_mean /= node_class(w, i).nodes
        _look_at_waiting(w, job, i)
    return w.class_count


@inner
def _gather_option(w: World, job: int, number: int, picked: int) -> None:
    this = option(w, number)
    chunk = chunk_of(w, number, picked)
    kinds = this.large_kinds if picked < this.many else this.small_kinds
    run = job_facts(w, job).reserve / this.speed
    for at in range(w.kind_count):
        if not kinds >> at & 1:
            continue
        for place in range(kind(w, at).first, kind(w, at).last):
            here = member(w, place).node
            if node(w, here).gpus < chunk.gpus or node(w, here).used_by == job:
                continue
            if admissible(w, here, chunk, w.now + run):
                _count(w, job, number, picked, here, run)


@inner
def _count(w: World, job: int, number: int, picked: int, here: int, run: float) -> None:
    """Count a node in its class; the first one makes the class."""
    busy, shares = busy_time(w, here), _shares_switch(w, here, picked)
    level = node(w, here).kind * (w.most_gpus + 1) + node(w, here).gpus
    mine = class_slot(w, level * KEYS + 2 * _relation(busy, run) + shares)
    if mine.search != w.search:
        if w.class_count == CLASSES:
            return
        mine.search, mine.at = w.search, w.class_count
        w.class_count += 1
        _describe(w, job, number, picked, here, mine.at)
        this = node_class(w, mine.at)
        this.run, this.shares_switch, this.nodes = run, shares, 0
        this.busy_least, this.busy_mean, this.busy_most = busy, 0.0, busy
    this = node_class(w, mine.at)
    this.nodes += 1
    this.busy_least = min(this.busy_least, busy)
    this.busy_most = max(this.busy_most, busy)
    this.busy_mean += busy
    if here < this.node:
        this.node = here


@inner
def _relation(busy: float, run: float) -> int:
    if busy <= 0.0:
        return IDLE
    if busy < 0.5 * run:
        return SOON
    return ALIKE if busy < 2.0 * run else LATE


@inner
def _shares_switch(w: World, here: int, picked: int) -> bool:
    shares = False
    for i in range(picked):
        shares |= node(w, node(w, i).picked).switch == node(w, here).switch
    return shares


@inner
def _describe(w: World, job: int, number: int, picked: int, here: int, at: int) -> None:
    """What is the same for all nodes of a class, and CPUs and memory of the first."""
    this, one, way = node_class(w, at), node(w, here), option(w, number)
    chunk, mine = chunk_of(w, number, picked), demand(w, run_of(w, job).demand)
    this.node, this.option = here, number
    whole = kind(w, one.kind)
    this.gpus, this.free_gpus, this.chunk_gpus = whole.gpus, one.gpus, chunk.gpus
    this.cpus, this.free_cpus = whole.cpus / THOUSAND, one.cpus / THOUSAND
    this.chunk_cpus, this.chunk_memory = chunk.cpus / THOUSAND, chunk.memory / GIGABYTE
    this.memory, this.free_memory = whole.memory / GIGABYTE, one.memory / GIGABYTE
    this.job_gpus, this.chunks_left = mine.gpus, way.many + way.few - picked - 1
    this.speed, this.fastest, this.reach_gpus = way.speed, mine.speed, whole.free


@inner
def _look_at_waiting(w: World, job: int, at: int) -> None:
    """What the other waiting jobs could use of the node, before and after."""
    this = node_class(w, at)
    mine, number = run_of(w, job).demand, node(w, this.node).kind
    jobs, gpus, before, after = 0, 0, 0, 0
    for i in range(w.active_count):
        row = demand(w, i).active
        other = demand(w, row)
        if not other.kinds >> number & 1:
            continue
        count, asked = other.high - other.low, other.queued_gpus
        if row == mine:
            count, asked = count - 1, asked - other.gpus
        size = large(w, other.option_first).gpus
        jobs, gpus = jobs + count, gpus + asked
        before += count if size <= this.free_gpus else 0
        after += count if size <= this.free_gpus - this.chunk_gpus else 0
    this.waiting_jobs, this.waiting_gpus = jobs, gpus
    this.usable_before = before / jobs if jobs > 0 else 1.0
    this.usable_after = after / jobs if jobs > 0 else 1.0
