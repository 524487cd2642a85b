"""What users, accounts, QOS and partitions may have at once; a demand at a limit is passed over."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import work
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import demand, limit_link, limit_use, run_of


@inner
def at_limit(w: World, number: int) -> bool:
    """Whether one more job of this demand would exceed what one of its limits allows."""
    mine = demand(w, number)
    for at in range(mine.link_first, mine.link_last):
        most, used = limit_link(w, at), limit_use(w, limit_link(w, at).use)
        if (
            used.jobs + 1 > most.jobs
            or used.gpus + mine.gpus_asked > most.gpus
            or used.cpus + mine.cpus_asked > most.cpus
            or used.memory + mine.memory_asked > most.memory
            or used.nodes + mine.nodes_asked > most.nodes
        ):
            return True
    return w.timed and work.exceeds(w, number)


@inner
def is_refused(w: World, number: int) -> bool:
    """Whether so many jobs wait or run that no more may be submitted."""
    mine = demand(w, number)
    for at in range(mine.link_first, mine.link_last):
        if limit_use(w, limit_link(w, at).use).submitted + 1 > limit_link(w, at).submitted:
            return True
    return False


@inner
def count_running(w: World, job: int, by: int) -> None:
    """A job has started (1) or ended (-1)."""
    mine = demand(w, run_of(w, job).demand)
    for at in range(mine.link_first, mine.link_last):
        used = limit_use(w, limit_link(w, at).use)
        used.jobs += by
        used.gpus += by * mine.gpus_asked
        used.cpus += by * mine.cpus_asked
        used.memory += by * mine.memory_asked
        used.nodes += by * mine.nodes_asked
    if w.timed:
        work.count(w, job, by)


@inner
def count_submitted(w: World, number: int, by: int) -> None:
    """A job of this demand has been submitted (1) or has ended (-1)."""
    mine = demand(w, number)
    for at in range(mine.link_first, mine.link_last):
        limit_use(w, limit_link(w, at).use).submitted += by


@inner
def close_limited(w: World) -> None:
    """No job of a demand at its limit starts, reserves or blocks in the rest of this pass.

    Within a pass use only grows, so that what is closed stays closed.
    """
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        if mine.open and at_limit(w, demand(w, i).active):
            mine.open = False
