"""Finding nodes for a job: for one chunk, or for all chunks of a gang."""

from __future__ import annotations

import math
from typing import Any

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import part_calls
from dovetail.simulator.kernel.admission import admissible, forget_spent, option_fits, spend
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.node_search import best_node, is_better
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import demand, job_facts, large, node, option, run_of, small


@inner
def place(w: World, prefer: Any, few_switches: bool, job: int) -> int:
    """Find nodes for a job; returns the option used, its nodes picked, or -1."""
    estimate = job_facts(w, job).reserve
    mine = demand(w, run_of(w, job).demand)
    number = mine.option_first
    while number < mine.option_last:
        this = option(w, number)
        if this.many + this.few > 1:
            end = w.now + estimate / this.speed
            if option_fits(w, number, end):
                picked = _pick_gang(w, prefer, few_switches, job, number, end)
                forget_spent(w)
                if picked:
                    return number
                forget_picks(w, job)
            number += 1
            continue
        chosen, best, best_preference = -1, -1, math.inf
        group = this.group
        while number < mine.option_last and option(w, number).group == group:
            end = w.now + estimate / option(w, number).speed
            kinds = option(w, number).large_kinds
            w.search += 1
            found, preference = best_node(w, prefer, job, kinds, large(w, number), end, -1)
            if found >= 0 and is_better(preference, found, best_preference, best):
                chosen, best, best_preference = number, found, preference
            number += 1
        if chosen >= 0:
            node(w, 0).picked = best
            return chosen
    return -1


@inner
def _pick_gang(
    w: World, prefer: Any, few_switches: bool, job: int, number: int, end: float
) -> bool:
    """Nodes for every chunk of a gang, large chunks first.

    False: each chunk has a node, but the reserved job cannot do without all of these at once.
    """
    this = option(w, number)
    switches, picked = 0, 0
    if few_switches:
        switches = part_calls.choose_switches(w, this.large_kinds, large(w, number), end, this.many)
        for i in range(switches):
            switch = node(w, i).taken_switch
            w.search += 1
            while picked < this.many and _pick(
                w, prefer, job, this.large_kinds, large(w, number), end, switch, picked
            ):
                picked += 1
    w.search += 1
    while picked < this.many:
        if not _pick(w, prefer, job, this.large_kinds, large(w, number), end, -1, picked):
            return False
        picked += 1
    while picked < this.many + this.few:
        # On a switch already in use if there is room, else anywhere.
        best, best_preference = -1, math.inf
        for i in range(switches):
            switch = node(w, i).taken_switch
            w.search += 1
            found, preference = best_node(
                w, prefer, job, this.small_kinds, small(w, number), end, switch
            )
            if found >= 0 and is_better(preference, found, best_preference, best):
                best, best_preference = found, preference
        if best < 0:
            w.search += 1
            best, _ = best_node(w, prefer, job, this.small_kinds, small(w, number), end, -1)
        if best < 0:
            return False
        _use(w, job, best, small(w, number), end, picked)
        picked += 1
    return True


@inner
def _pick(
    w: World, prefer: Any, job: int, kinds: int, chunk: Chunk, end: float, switch: int, at: int
) -> bool:
    found, _ = best_node(w, prefer, job, kinds, chunk, end, switch)
    if found < 0:
        return False
    _use(w, job, found, chunk, end, at)
    return True


@inner
def _use(w: World, job: int, number: int, chunk: Chunk, end: float, at: int) -> None:
    """Note a node for the gang in hand."""
    node(w, at).picked = number
    node(w, number).used_by = job
    spend(w, number, chunk, end)


@inner
def forget_picks(w: World, job: int) -> None:
    """A job that comes again may have the nodes that were once picked for it."""
    for number in range(w.node_count):
        if node(w, number).used_by == job:
            node(w, number).used_by = -1


@inner
def choose_switches(w: World, kinds: int, chunk: Chunk, end: float, many: int) -> int:
    """Choose switches: the tightest that holds all that is missing, else the roomiest.

    Returns how many; they are in taken_switch. There are never more switches than nodes.
    """
    switches = 0
    for number in range(w.node_count):
        node(w, number).room = 0
        switches = max(switches, node(w, number).switch + 1)
    for number in range(w.node_count):
        if kinds >> node(w, number).kind & 1 and admissible(w, number, chunk, end):
            node(w, node(w, number).switch).room += 1
    count, missing = 0, many
    while missing > 0:
        tightest, roomiest = -1, 0
        for switch in range(switches):
            room = node(w, switch).room
            if room >= missing and (tightest < 0 or room < node(w, tightest).room):
                tightest = switch
            if room > node(w, roomiest).room:
                roomiest = switch
        switch = tightest if tightest >= 0 else roomiest
        missing -= node(w, switch).room
        node(w, switch).room = -1
        node(w, count).taken_switch = switch
        count += 1
    return count
