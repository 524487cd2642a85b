"""Whose turn it is: heaps of demands by (tier, score, row) of their next jobs.

Demands that may use the same kinds of nodes share a heap: a pass asks each heap for its first, and
leaves out those whose jobs all stand behind a blocked one. Looking at every demand for the first
cost a pass twenty times as much with 1,000 demands as with ten. Where lists are in order of score,
heaps last from pass to pass, each demand with the first job of its list; elsewhere a pass lines all
up anew, or looks at every demand where they are few. Demands that may pass a reserved job have one
more heap of their own.
"""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.queue_rows import Turn
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import demand, kind_set, scores, turn, waiting

FEW = 16
"""Up to so many demands are looked at one by one: heaps that last one pass cost more."""


@inner
def first(w: World) -> int:
    """The demand whose turn it is, among those that may pass and all that are not closed.

    -1: there is none.
    """
    if w.by_scan:
        return _first_by_scan(w)
    best = -1
    if w.passer_count > 0:
        best = w.demand_count
    for i in range(w.kind_set_count):
        own = kind_set(w, i)
        if own.turn_count > 0 and own.closed != w.passes:
            if best < 0 or _precedes(turn(w, own.turn_first), turn(w, best)):
                best = own.turn_first
    return turn(w, best).demand if best >= 0 else -1


@inner
def _first_by_scan(w: World) -> int:
    best, score, job, tier = -1, 0.0, 0, 0
    for i in range(w.active_count):
        number = demand(w, i).active
        mine = demand(w, number)
        if not mine.open:
            continue
        if mine.behind != w.passes and kind_set(w, mine.kind_set).closed == w.passes:
            continue
        own, row = mine.cursor_score, waiting(w)[mine.cursor]
        if best >= 0 and mine.tier != tier:
            better = mine.tier < tier
        else:
            better = best < 0 or own < score or (own == score and row < job)
        if better:
            best, score, job, tier = number, own, row, mine.tier
    return best


@inner
def close(w: World, kinds: int) -> None:
    """Leave out all that may use any of these kinds, in this pass."""
    for i in range(w.kind_set_count):
        if kind_set(w, i).kinds & kinds:
            kind_set(w, i).closed = w.passes


@inner
def any_outside(w: World, kinds: int) -> bool:
    """Whether any demand that has its turn to come may use other kinds than these."""
    if w.by_scan:
        for i in range(w.active_count):
            mine = demand(w, demand(w, i).active)
            if mine.open and mine.kinds & ~kinds:
                return True
        return False
    for i in range(w.kind_set_count):
        if kind_set(w, i).turn_count > 0 and kind_set(w, i).kinds & ~kinds:
            return True
    return False


@inner
def turn_of(w: World, number: int) -> Turn:
    """The place of a demand among those with the same kinds."""
    mine = demand(w, number)
    return turn(w, kind_set(w, mine.kind_set).turn_first + mine.turn)


@inner
def note_first_job(w: World, number: int) -> None:
    """A demand whose list is in order has got another first job, or none is left."""
    mine = demand(w, number)
    if mine.low == mine.high:
        _leave(w, number)
    else:
        _stand(w, number, scores(w)[mine.low], waiting(w)[mine.low])


@inner
def note_next_job(w: World, number: int) -> None:
    """The cursor of a demand has moved in this pass, or the demand is closed."""
    mine = demand(w, number)
    if w.by_scan:
        return
    if mine.behind == w.passes:
        _note_passer(w, number)
    elif mine.open:
        _stand(w, number, mine.cursor_score, waiting(w)[mine.cursor])
    else:
        _leave(w, number)


@inner
def line_up_or_scan(w: World) -> None:
    """All open demands anew, unless they are few."""
    if w.active_count <= FEW:
        w.by_scan = True
    else:
        line_up(w)


@inner
def line_up(w: World) -> None:
    """All open demands anew, by the jobs under their cursors."""
    w.by_scan = False
    for i in range(w.kind_set_count):
        kind_set(w, i).turn_count = 0
    for i in range(w.active_count):
        mine = demand(w, demand(w, i).active)
        mine.turn = -1
        if mine.open:
            number = demand(w, i).active
            _stand(w, number, mine.cursor_score, waiting(w)[mine.cursor])


@inner
def line_up_first_jobs(w: World) -> None:
    """All demands anew, by the first jobs of their lists."""
    for i in range(w.kind_set_count):
        kind_set(w, i).turn_count = 0
    for i in range(w.active_count):
        demand(w, demand(w, i).active).turn = -1
        note_first_job(w, demand(w, i).active)


@inner
def set_aside(w: World, number: int) -> None:
    """Leave a demand out for the rest of this pass."""
    mine = demand(w, number)
    mine.open = False
    if w.by_scan:
        return
    if mine.behind == w.passes:
        _note_passer(w, number)
        return
    _leave(w, number)
    demand(w, w.aside_count).aside = number
    w.aside_count += 1


@inner
def end_pass(w: World) -> None:
    """Nobody passes any more, and those set aside are back."""
    for i in range(w.passer_count):
        demand(w, turn(w, w.demand_count + i).demand).passer = -1
    w.passer_count = 0
    for i in range(w.aside_count):
        note_first_job(w, demand(w, i).aside)
    w.aside_count = 0


@inner
def _stand(w: World, number: int, score: float, job: int) -> None:
    mine = demand(w, number)
    own = kind_set(w, mine.kind_set)
    at = mine.turn
    if at < 0:
        at = own.turn_count
        own.turn_count += 1
    _sift(w, own.turn_first, own.turn_count, at, mine.tier, score, job, number)


@inner
def _leave(w: World, number: int) -> None:
    mine = demand(w, number)
    if mine.turn < 0:
        return
    own, at = kind_set(w, mine.kind_set), mine.turn
    own.turn_count -= 1
    mine.turn = -1
    _fill(w, own.turn_first, own.turn_count, at)


@inner
def _note_passer(w: World, number: int) -> None:
    mine, at = demand(w, number), demand(w, number).passer
    if mine.open:
        if at < 0:
            at = w.passer_count
            w.passer_count += 1
        score, job = mine.cursor_score, waiting(w)[mine.cursor]
        _sift(w, w.demand_count, w.passer_count, at, mine.tier, score, job, number)
    elif at >= 0:
        w.passer_count -= 1
        mine.passer = -1
        _fill(w, w.demand_count, w.passer_count, at)


@inner
def _fill(w: World, begin: int, count: int, at: int) -> None:
    """The last of a heap takes a place that has become free."""
    if at < count:
        last = turn(w, begin + count)
        _sift(w, begin, count, at, last.tier, last.score, last.job, last.demand)


@inner
def _sift(
    w: World, begin: int, count: int, at: int, tier: int, score: float, job: int, number: int
) -> None:
    """Put a demand at a place of a heap, or wherever it belongs from there."""
    while at > 0 and _goes_before(tier, score, job, turn(w, begin + ((at - 1) >> 1))):
        _copy(w, begin, (at - 1) >> 1, at)
        at = (at - 1) >> 1
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and _precedes(turn(w, begin + child + 1), turn(w, begin + child)):
            child += 1
        if _goes_before(tier, score, job, turn(w, begin + child)):
            break
        _copy(w, begin, child, at)
        at = child
    here = turn(w, begin + at)
    here.tier, here.score, here.job = tier, score, job
    _set_demand(w, begin, at, number)


@inner
def _copy(w: World, begin: int, one: int, other: int) -> None:
    source, target = turn(w, begin + one), turn(w, begin + other)
    target.tier, target.score, target.job = source.tier, source.score, source.job
    _set_demand(w, begin, other, source.demand)


@inner
def _set_demand(w: World, begin: int, at: int, number: int) -> None:
    """A demand knows its places."""
    turn(w, begin + at).demand = number
    if begin < w.demand_count:
        demand(w, number).turn = at
    else:
        demand(w, number).passer = at


@inner
def _precedes(one: Turn, other: Turn) -> bool:
    return _goes_before(one.tier, one.score, one.job, other)


@inner
def _goes_before(tier: int, score: float, job: int, other: Turn) -> bool:
    if tier != other.tier:
        return tier < other.tier
    return score < other.score or (score == other.score and job < other.job)
