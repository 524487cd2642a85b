"""What waiting jobs need, in chains: a walk ends at the first need of a chain that is not met.

Most passes with a deep queue find nothing that fits. With one look at the least need of each chain
they are over; asking every demand cost more the more demands there were.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.compiled.tables import Word
from dovetail.simulator.kernel.allocation import free_nodes
from dovetail.simulator.kernel.bits import ONE, trailing_zeros
from dovetail.simulator.kernel.queue_rows import Need, NeedChain, NeedWord
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    demand,
    need,
    need_chain,
    need_word,
    option,
)


@inner
def begin_waiting(w: World, number: int) -> None:
    """A demand has got its first waiting job."""
    for at in range(demand(w, number).option_first, demand(w, number).option_last):
        this = option(w, at)
        own = need(w, this.need)
        if own.option < 0:
            own.shortest = math.inf
            _flip(w, this.need)
        else:
            option(w, own.option).previous = at
        this.next, this.previous, own.option = own.option, -1, at
        need_chain(w, own.chain).options += 1


@inner
def end_waiting(w: World, number: int) -> None:
    """The last waiting job of a demand is gone."""
    for at in range(demand(w, number).option_first, demand(w, number).option_last):
        this = option(w, at)
        own = need(w, this.need)
        need_chain(w, own.chain).options -= 1
        if this.next >= 0:
            option(w, this.next).previous = this.previous
        if this.previous >= 0:
            option(w, this.previous).next = this.next
            continue
        own.option = this.next
        if own.option < 0:
            _flip(w, this.need)


@inner
def _flip(w: World, number: int) -> None:
    """Somebody begins, or nobody goes on to wait for a need."""
    here, place = _word_of(w, number), number - need_chain(w, need(w, number).chain).first
    if here.bits == Word(0):
        here.shortest = math.inf
    here.bits ^= ONE << Word(place & 63)


@inner
def _word_of(w: World, number: int) -> NeedWord:
    this = need_chain(w, need(w, number).chain)
    return need_word(w, this.word_first + ((number - this.first) >> 6))


@inner
def note_shorter(w: World, number: int) -> None:
    """A job of a demand has come that is shorter than all others of it."""
    mine = demand(w, number)
    for at in range(mine.option_first, mine.option_last):
        own, here = need(w, option(w, at).need), _word_of(w, option(w, at).need)
        own.shortest = min(own.shortest, mine.shortest / mine.speed)
        here.shortest = min(here.shortest, own.shortest)


@inner
def is_met(w: World, this: Need) -> bool:
    return free_nodes(w, this.shape) >= this.nodes


@inner
def anything_may_fit(w: World) -> bool:
    """Whether enough nodes have room for the large chunks of any waiting job."""
    for i in range(w.chain_count):
        this = need_chain(w, i)
        if this.options > 0 and is_met(w, need(w, next_need(w, this, 0))):
            return True
    return False


@inner
def next_need(w: World, this: NeedChain, place: int) -> int:
    """The first need of a chain from a place on that somebody waits for; -1: there is none."""
    skip = Word(place & 63)
    for i in range(place >> 6, this.words):
        bits = need_word(w, this.word_first + i).bits >> skip << skip
        skip = Word(0)
        if bits != Word(0):
            return this.first + 64 * i + int(trailing_zeros(bits))
    return -1


@inner
def next_met(w: World, at: int) -> int:
    """The option after another, of demands with waiting jobs, whose large chunks have nodes now.

    -1: the first one; as an answer, that there is none.
    """
    chain, place = 0, 0
    if at >= 0:
        if option(w, at).next >= 0:
            return option(w, at).next
        chain = need(w, option(w, at).need).chain
        place = option(w, at).need - need_chain(w, chain).first + 1
    while chain < w.chain_count:
        this = need_chain(w, chain)
        number = next_need(w, this, place) if this.options > 0 else -1
        if number >= 0 and is_met(w, need(w, number)):
            return need(w, number).option
        chain, place = chain + 1, 0
    return -1


@inner
def next_short_need(w: World, this: NeedChain, place: int, longest: float) -> int:
    """The first need of a chain from a place on that a job of no more than so long may have.

    What is found to be too long is remembered: the next search leaves it out, 64 at once.
    """
    while place < 64 * this.words:
        here = need_word(w, this.word_first + (place >> 6))
        if here.shortest <= longest:
            skip = Word(place & 63)
            bits = here.bits >> skip << skip
            while bits != Word(0):
                number = this.first + (place & ~63) + int(trailing_zeros(bits))
                if need(w, number).shortest <= longest and _shortest(w, number) <= longest:
                    return number
                bits &= bits - ONE
            _renew_shortest(w, this, place >> 6)
        place = (place | 63) + 1
    return -1


@inner
def _shortest(w: World, number: int) -> float:
    """The shortest estimate among the jobs with a need, as far as known."""
    own, best = need(w, number), math.inf
    at = own.option
    while at >= 0:
        mine = demand(w, option(w, at).demand)
        best = min(best, mine.shortest / mine.speed)
        at = option(w, at).next
    own.shortest = best
    return best


@inner
def _renew_shortest(w: World, this: NeedChain, at: int) -> None:
    here = need_word(w, this.word_first + at)
    bits, best = here.bits, math.inf
    while bits != Word(0):
        best = min(best, need(w, this.first + 64 * at + int(trailing_zeros(bits))).shortest)
        bits &= bits - ONE
    here.shortest = best
