"""What a policy may know of the cluster at a pass: per demand, and as a whole."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.in_use import describe_use
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    cluster_facts,
    demand,
    demand_facts,
    kind,
    kind_set,
    large,
    level,
    option,
)


@inner
def describe(w: World) -> None:
    """Fill in ClusterFacts, and DemandFacts of every demand with waiting jobs."""
    squares, queued, jobs = 0.0, 0.0, 0
    for number in range(w.kind_count):
        whole = kind(w, number).gpus
        for gpus in range(1, whole + 1):
            squares += level(w, number, gpus).count * gpus * gpus / whole
    for i in range(w.kind_set_count):
        kind_set(w, i).own_gpus = 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        queued += mine.queued_gpus
        jobs += mine.high - mine.low
        kind_set(w, mine.kind_set).own_gpus += mine.queued_gpus
    # Once for all demands that may use the same: each asking every other was quadratic.
    for i in range(w.kind_set_count):
        _describe_kinds(w, i)
    for i in range(w.active_count):
        _describe_demand(w, demand(w, i).active)
    site = cluster_facts(w, 0)
    site.free_gpus, site.queued_gpus, site.queued_jobs = w.free_gpus, queued, jobs
    # Each free GPU counts with the share of its node that is free: 1 if all nodes are idle.
    site.fragmentation = 1.0 - squares / w.free_gpus if w.free_gpus > 0 else 0.0
    describe_use(w)


@inner
def _describe_kinds(w: World, number: int) -> None:
    this = kind_set(w, number)
    this.free_gpus = this.idle_nodes = this.queued_gpus = 0
    for at in range(w.kind_count):
        if this.kinds >> at & 1:
            this.free_gpus += kind(w, at).free
            this.idle_nodes += level(w, at, kind(w, at).gpus).count
    for i in range(w.kind_set_count):
        if kind_set(w, i).kinds & this.kinds:
            this.queued_gpus += kind_set(w, i).own_gpus


@inner
def _describe_demand(w: World, number: int) -> None:
    mine, facts = demand(w, number), demand_facts(w, number)
    part = kind_set(w, mine.kind_set)
    facts.free_gpus, facts.idle_nodes = part.free_gpus, part.idle_nodes
    facts.queued_gpus = part.queued_gpus
    facts.fits, facts.opens, facts.ways = mine.fits, False, 0
    if not mine.fits:  # nor has it ways
        return
    ways, snug = 0, 0
    chunk = large(w, mine.option_first).gpus
    for at in range(w.kind_count):
        if option(w, mine.option_first).large_kinds >> at & 1:
            whole = kind(w, at).gpus
            for gpus in range(max(1, chunk), whole + 1):
                found = level(w, at, gpus).count > 0
                ways += found
                snug += found and (gpus < whole or gpus == chunk)
    facts.opens, facts.ways = snug == 0, ways
