"""What a policy may know of the cluster at a pass: per demand, and as a whole."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    cluster_facts,
    demand,
    demand_facts,
    kind,
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
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        queued += mine.queued_gpus
        jobs += mine.high - mine.low
        _describe_demand(w, demand(w, i).active)
    site = cluster_facts(w, 0)
    site.free_gpus, site.queued_gpus, site.queued_jobs = w.free_gpus, queued, jobs
    # Each free GPU counts with the share of its node that is free: 1 if all nodes are idle.
    site.fragmentation = 1.0 - squares / w.free_gpus if w.free_gpus > 0 else 0.0


@inner
def _describe_demand(w: World, number: int) -> None:
    mine, facts = demand(w, number), demand_facts(w, number)
    free, idle, queued, ways, snug = 0, 0, 0, 0, 0
    chunk = large(w, mine.option_first).gpus
    for at in range(w.kind_count):
        if mine.kinds >> at & 1:
            whole = kind(w, at).gpus
            for gpus in range(1, whole + 1):
                count = level(w, at, gpus).count
                free += count * gpus
                if option(w, mine.option_first).large_kinds >> at & 1:
                    ways += gpus >= chunk and count > 0
                    snug += gpus >= chunk and count > 0 and (gpus < whole or gpus == chunk)
            idle += level(w, at, whole).count
    for i in range(w.active_count):
        other = demand(w, demand(w, i).active)
        if other.kinds & mine.kinds:
            queued += other.queued_gpus
    facts.free_gpus, facts.idle_nodes, facts.queued_gpus = free, idle, queued
    facts.fits = mine.fits
    facts.opens = mine.fits and snug == 0
    facts.ways = ways if mine.fits else 0
