"""Finding nodes for a job: which nodes are admissible, which of them are preferred."""

from __future__ import annotations

import math
from typing import Any

from dovetail.domain.compiled import inner
from dovetail.domain.tables import Word
from dovetail.simulator.bits import trailing_zeros
from dovetail.simulator.free import fits
from dovetail.simulator.holds import admits
from dovetail.simulator.rows import Chunk, World
from dovetail.simulator.state import (
    bitmap,
    demand,
    job_facts,
    kind,
    large,
    level,
    member,
    node,
    option,
    reserve,
    run_of,
    seen,
    slot,
    small,
    taste,
)


@inner
def admissible(w: World, number: int, chunk: Chunk, end: float) -> bool:
    """Whether a chunk may start on a node now and stay there until `end`."""
    here = node(w, number)
    if not fits(here, chunk):
        return False
    kept = reserve(w, number)
    if kept.time < end and not fits(kept, chunk):
        return False
    return here.hold < 0 or admits(w, number, chunk, w.now, end)


@inner
def enough_nodes(w: World, kinds: int, chunk: Chunk, end: float, wanted: int) -> bool:
    """Whether so many nodes of some kinds may take a chunk."""
    found = 0
    if chunk.cpus == 0 and chunk.memory == 0 and w.hold_count == 0:
        # The index alone answers, without a scan.
        for number in range(w.kind_count):
            if kinds >> number & 1:
                for gpus in range(kind(w, number).gpus, chunk.gpus - 1, -1):
                    found += level(w, number, gpus).count
                if kind(w, number).reserved < end:
                    found -= level(w, number, chunk.gpus).lost
        return found >= wanted
    for number in range(w.kind_count):
        if kinds >> number & 1:
            for at in range(kind(w, number).first, kind(w, number).last):
                found += admissible(w, member(w, at).node, chunk, end)
                if found >= wanted:
                    return True
    return False


@inner
def option_fits(w: World, number: int, end: float) -> bool:
    """Whether a job that ends at `end` could start now in this option."""
    this = option(w, number)
    if not enough_nodes(w, this.large_kinds, large(w, number), end, this.many):
        return False
    return this.few == 0 or enough_nodes(
        w, this.small_kinds, small(w, number), end, this.many + this.few
    )


@inner
def demand_fits(w: World, number: int, end: float) -> bool:
    """Whether any option of a demand has room now for a job that ends at `end`."""
    for this in range(demand(w, number).option_first, demand(w, number).option_last):
        if option_fits(w, this, end):
            return True
    return False


@inner
def place(w: World, prefer: Any, few_switches: bool, job: int) -> int:
    """Find nodes for a job; returns the option used, its nodes picked, or -1."""
    estimate = job_facts(w, job).estimate
    mine = demand(w, run_of(w, job).demand)
    number = mine.option_first
    while number < mine.option_last:
        this = option(w, number)
        if this.many + this.few > 1:
            end = w.now + estimate / this.speed
            if option_fits(w, number, end):
                _pick_gang(w, prefer, few_switches, job, number, end)
                return number
            number += 1
            continue
        chosen, best, best_preference = -1, -1, math.inf
        group = this.group
        while number < mine.option_last and option(w, number).group == group:
            end = w.now + estimate / option(w, number).speed
            kinds = option(w, number).large_kinds
            found, preference = best_node(w, prefer, job, kinds, large(w, number), end, -1)
            if found >= 0 and _better(preference, found, best_preference, best):
                chosen, best, best_preference = number, found, preference
            number += 1
        if chosen >= 0:
            node(w, 0).picked = best
            return chosen
    return -1


@inner
def _better(preference: float, number: int, best_preference: float, best: int) -> bool:
    return (
        best < 0
        or preference < best_preference
        or (preference == best_preference and number < best)
    )


@inner
def best_node(
    w: World, prefer: Any, job: int, kinds: int, chunk: Chunk, end: float, switch: int
) -> tuple[int, float]:
    """The admissible node with the lowest (preference, node) that the job does not use yet.

    `switch`: only nodes on this switch; -1: on any.
    """
    if w.looks_at_time:
        return _best_node_by_time(w, prefer, job, kinds, chunk, end, switch)
    sizes, parameters = seen(w), taste(w)
    best, best_preference = -1, math.inf
    for number in range(w.kind_count):
        if not kinds >> number & 1:
            continue
        for gpus in range(chunk.gpus, kind(w, number).gpus + 1):
            if level(w, number, gpus).count == 0:
                continue
            preference = prefer(parameters, chunk.gpus, gpus, end - w.now, 0.0, sizes)
            if best >= 0 and preference > best_preference:
                continue
            found = _first_in_level(w, job, number, gpus, chunk, end, switch)
            if found >= 0 and _better(preference, found, best_preference, best):
                best, best_preference = found, preference
    return best, best_preference


@inner
def _best_node_by_time(
    w: World, prefer: Any, job: int, kinds: int, chunk: Chunk, end: float, switch: int
) -> tuple[int, float]:
    """The same for preferences that tell nodes with equally many free GPUs apart."""
    sizes, parameters = seen(w), taste(w)
    best, best_preference = -1, math.inf
    for number in range(w.kind_count):
        if not kinds >> number & 1:
            continue
        for at in range(kind(w, number).first, kind(w, number).last):
            here = member(w, at).node
            free = node(w, here).gpus
            if free < chunk.gpus or node(w, here).used_by == job:
                continue
            if switch >= 0 and node(w, here).switch != switch:
                continue
            preference = prefer(parameters, chunk.gpus, free, end - w.now, _busy(w, here), sizes)
            if _better(preference, here, best_preference, best) and admissible(w, here, chunk, end):
                best, best_preference = here, preference
    return best, best_preference


@inner
def _busy(w: World, number: int) -> float:
    """Seconds until the last job of a node is expected to end; 0: idle."""
    last = w.now
    for i in range(node(w, number).running):
        last = max(last, run_of(w, slot(w, number, i).job).expected)
    return last - w.now


@inner
def _first_in_level(
    w: World, job: int, number: int, gpus: int, chunk: Chunk, end: float, switch: int
) -> int:
    """The lowest admissible node of a kind with so many free GPUs; -1: none."""
    this = kind(w, number)
    first = level(w, number, gpus).word_first
    for i in range(this.words):
        bits = bitmap(w, first + i).bits
        while bits != Word(0):
            found = member(w, this.first + 64 * i + int(trailing_zeros(bits))).node
            if (
                node(w, found).used_by != job
                and (switch < 0 or node(w, found).switch == switch)
                and admissible(w, found, chunk, end)
            ):
                return found
            bits &= bits - Word(1)
    return -1


@inner
def _pick_gang(
    w: World, prefer: Any, few_switches: bool, job: int, number: int, end: float
) -> None:
    """Nodes for every chunk of a gang that is known to fit, large chunks first."""
    this = option(w, number)
    switches, picked = 0, 0
    if few_switches:
        switches = _few_switches(w, this.large_kinds, large(w, number), end, this.many)
        for i in range(switches):
            switch = node(w, i).taken_switch
            while picked < this.many and _pick(
                w, prefer, job, this.large_kinds, large(w, number), end, switch, picked
            ):
                picked += 1
    while picked < this.many:
        _pick(w, prefer, job, this.large_kinds, large(w, number), end, -1, picked)
        picked += 1
    while picked < this.many + this.few:
        # On a switch already in use if there is room, else anywhere.
        best, best_preference = -1, math.inf
        for i in range(switches):
            switch = node(w, i).taken_switch
            found, preference = best_node(
                w, prefer, job, this.small_kinds, small(w, number), end, switch
            )
            if found >= 0 and _better(preference, found, best_preference, best):
                best, best_preference = found, preference
        if best < 0:
            best, _ = best_node(w, prefer, job, this.small_kinds, small(w, number), end, -1)
        node(w, picked).picked = best
        node(w, best).used_by = job
        picked += 1


@inner
def _pick(
    w: World, prefer: Any, job: int, kinds: int, chunk: Chunk, end: float, switch: int, at: int
) -> bool:
    found, _ = best_node(w, prefer, job, kinds, chunk, end, switch)
    if found < 0:
        return False
    node(w, at).picked = found
    node(w, found).used_by = job
    return True


@inner
def _few_switches(w: World, kinds: int, chunk: Chunk, end: float, many: int) -> int:
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
