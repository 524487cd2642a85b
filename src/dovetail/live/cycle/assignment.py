"""From an order to priorities: the values that Slurm gave, in a new order among the jobs we touch.

>>> assign([3, 1, 2], own={1: 300, 2: 200, 3: 100}, now={1: 300, 2: 200, 3: 100}, others=[])
{3: 1287, 1: 300, 2: 200}

The first job of our order gets the highest priority that any touchable job has, the next one the
next. Whoever is not touched, such as a job bound by an SLA, keeps his place among all: no more
jobs stand above him than Slurm itself had put there.

Only differences cost a message to Slurm. A job keeps its value while it still stands between its
neighbours, and as many as possible do: the longest run of jobs whose values fall, with room enough
for those between. The others go between them with gaps, so that a later one finds room, too; where
there is none, a stretch around is spread anew, the shortest one in which there is (order
maintenance).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from dovetail.live.model.mark import STEP, marked_below

LOWEST = 1
"""Slurm holds jobs at 0."""

GAP = 1024
"""Left between jobs where there is room, so that later ones can go between without moving them.

Of 1,000 waiting jobs with one start and one arrival in a cycle, arrivals at the end of one of five
classes, 64 cost 7.8 updates in a cycle, 512 cost 4.4, 1,024 cost 3.4, 2,048 cost 3.0; arrivals at
random places cost 1.0. New jobs come in with Slurm's own priority, below all that was spread
upwards, until the next cycle: so no larger than need be.
"""

ROOM = 4
"""Less than this between jobs that are put somewhere: a stretch around them is spread anew."""

WALLED_ROOM = 2.5
"""The same among walls, where values are few, and only while many jobs move anyway: in a first
cycle. Left as they fell, among 50 walls, they cost 9.4 updates in each of the next 100 cycles; so
4.8. Spread anew in later cycles, too, they cost more."""

MANY = 0.25
"""Share of the jobs from which on many move."""

WALLED_HEAD = 32
"""Places at the head whose jobs stand among walls nearly as Slurm's own would.

Further back a job may lag behind any number of walls: it goes past all of them at once when it
comes to the head. One by one cost 90 to 130 updates in a cycle, this 3 to 6 among 50 walls and 2 to
3 among 500; the first 20 jobs then stand behind 0 to 1 and 9 to 17 walls more than they might.
"""

HIGHEST = 4_000_000_000
"""Slurm's own limit is a little above."""


class PriorityBounds(NamedTuple):
    """Where a job may stand without passing anybody who is not touched, both ends included."""

    low: int
    high: int


def assign(
    order: Sequence[int],
    own: Mapping[int, int],
    now: Mapping[int, int],
    others: Sequence[int],
    horizon: int = 1000,
    floor: int = 0,
    base: Mapping[int, int] | None = None,
) -> dict[int, int]:
    """The priority of every touchable job: `own` for most, others by their place in the order.

    order: touchable jobs, first to go first; own: what Slurm alone gives each; now: what it has
    now, our factor included; others: priorities of waiting jobs that are not touched; horizon:
    how many jobs of the order must stand exactly so. The jobs after these only stand below them;
    floor: the highest priority of further jobs that stand below them, too; base: what is added to
    a factor of ours to give the priority, by default `own`.
    """
    moved, slots, rest = _exchange(order, own, horizon)
    head = min(horizon, len(order))
    walls = sorted(set(others))
    bounds = _bounds(slots, head, max(floor, rest), walls)
    added = own if base is None else base
    values = {job: own[job] for job in order}
    free = len(bounds)
    # Who finds no place above the lowest possible stands there, whatever the order.
    values.update(dict.fromkeys(moved[free:], LOWEST))
    present = [now.get(job, 0) for job in moved[:free]]
    stands = [added.get(job, 0) for job in moved[:free]]
    found = _Stretch(slots[:free], bounds, present, stands, bool(walls)).fill()
    values.update(zip(moved, found, strict=False))
    return values


def _exchange(
    order: Sequence[int], own: Mapping[int, int], horizon: int
) -> tuple[list[int], list[int], int]:
    """The jobs that get another's priority, these priorities, the highest of all the rest.

    The head of the order takes the highest values; jobs that stood there and are not of the head
    take, in their order, the values that the head leaves behind. All others keep their own.
    """
    ranked = sorted(sorted(order), key=own.__getitem__, reverse=True)
    head, top = list(order[:horizon]), ranked[:horizon]
    standing, heading = set(top), set(head)
    pushed = [job for job in order[horizon:] if job in standing]
    left = sorted((own[job] for job in head if job not in standing), reverse=True)
    slots = [own[job] for job in top] + left
    rest = [own[job] for job in order if job not in standing and job not in heading]
    return head + pushed, slots, max(rest, default=0)


def _bounds(
    slots: Sequence[int], head: int, floor: int, walls: Sequence[int]
) -> list[PriorityBounds]:
    """Of each place, so that falling values exist from the first to the last.

    None for places that find no value at all. The upper ends hold without exception. The lower
    ones give way: the head stays above `floor`, and its first jobs within twice WALLED_HEAD slots.
    """
    if not walls and floor + len(slots) < HIGHEST - len(slots):
        return _open_bounds(len(slots), head, floor)
    highs: list[int] = []
    above = HIGHEST + 1
    for slot in slots:
        at = bisect_left(walls, slot)
        above = min(above - 1, walls[at] if at < len(walls) else HIGHEST)
        if above < LOWEST:
            break
        highs.append(above)
    lows: list[int] = []
    below = LOWEST - 1
    lag = slots[min(2 * WALLED_HEAD, len(slots) - 1)] if slots else LOWEST
    for i in range(len(highs) - 1, -1, -1):
        at = bisect_left(walls, min(lag, highs[i])) if i < WALLED_HEAD else 0
        low = walls[at - 1] + 1 if at else LOWEST
        if i < head and floor < highs[i]:
            low = max(low, floor + 1)
        below = max(min(low, highs[i]), below + 1)
        lows.append(below)
    return [PriorityBounds(low, high) for low, high in zip(reversed(lows), highs, strict=True)]


def _open_bounds(count: int, head: int, floor: int) -> list[PriorityBounds]:
    """The same where nobody stands between: 0.3 ms for 1,400 jobs instead of 3."""
    lows = [max(LOWEST + count - 1 - i, floor + head - i) for i in range(min(head, count))]
    lows += range(LOWEST + count - 1 - len(lows), LOWEST - 1, -1)
    return list(map(PriorityBounds, lows, range(HIGHEST, HIGHEST - count, -1)))


class _Stretch:
    """Falling values within bounds, as many as possible left as they are."""

    def __init__(
        self,
        slots: Sequence[int],
        bounds: Sequence[PriorityBounds],
        now: list[int],
        base: list[int],
        walled: bool,
    ) -> None:
        self._slots, self._bounds, self._now, self._base = slots, bounds, now, base
        self._walled = walled
        inside = [
            value if each.low <= value <= each.high else None
            for value, each in zip(now, bounds, strict=True)
        ]
        # With its place added, a value leaves room for those between it and the next that stays.
        self._kept = longest_run([v if v is None else v + i for i, v in enumerate(inside)])

    def fill(self) -> list[int]:
        values: list[int] = []
        for first, last in self._gaps():
            values += self._now[len(values) : first]
            values += self._between(first, last, values[-1] if values else HIGHEST + 1)
        return values + self._now[len(values) :]

    def _gaps(self) -> list[tuple[int, int]]:
        """Runs of places that need a new value, widened until there is room for more."""
        stops = [-1, *self._kept, len(self._now)]
        gaps: list[tuple[int, int]] = []
        for left, right in pairwise(stops):
            if right - left > 1:
                first, last = self._widened(left + 1, right)
                while gaps and first <= gaps[-1][1]:
                    begin, end = gaps.pop()
                    first, last = min(first, begin), max(last, end)
                gaps.append((first, last))
        return gaps

    def _widened(self, first: int, last: int) -> tuple[int, int]:
        """The shortest stretch around in which jobs stand loosely enough; the longer the looser.

        Where there is none, the run itself: others stay. So among walls, where room is scarce and
        a stretch would be spread again and again, unless many jobs move anyway.
        """
        begin, end, needed = first, last, float(ROOM)
        if self._walled:
            moved = len(self._now) - len(self._kept)
            needed = WALLED_ROOM if moved > MANY * len(self._now) else 0.0
        while self._room(begin, end) < needed:
            width = max(2, end - begin)
            if end - begin == len(self._now):
                return first, last
            begin, end = max(0, begin - width), min(len(self._now), end + width)
            if not self._walled:
                needed = ROOM * (end - begin).bit_length()
        return begin, end

    def _room(self, first: int, last: int) -> float:
        """Values for each job of the stretch, between those that stay on either side."""
        above = self._now[first - 1] if first else HIGHEST + 1
        below = self._now[last] if last < len(self._now) else LOWEST - 1
        high, low = self._bounds[first].high + 1, self._bounds[last - 1].low - 1
        return (min(above, high) - max(below, low)) / (last - first + 1)

    def _between(self, first: int, last: int, above: int) -> list[int]:
        """New values from place `first` to before `last`, below `above`."""
        below = self._now[last] if last < len(self._now) else LOWEST - 1
        values: list[int] = []
        while first < last:
            high, low = self._bounds[first].high, self._bounds[first].low
            stop = first + 1  # of the places with the same bounds but for their rank
            while stop < last and self._bounds[stop] == (low - stop + first, high - stop + first):
                stop += 1
            ceiling = min(high + 1, above)
            ground = max(self._bounds[stop - 1].low - 1, below + last - stop)
            if self._walled:
                # Not below the next slot while there is room: else all that is free goes to the
                # first, and the last stand shoulder to shoulder at the bottom.
                near = self._slots[min(stop, len(self._slots) - 1)]
                ground = max(ground, min(near, ceiling - ROOM * (stop - first + 1)))
            values += self._spread(first, stop, ceiling, ground)
            first, above = stop, values[-1]
        return values

    def _spread(self, first: int, stop: int, above: int, below: int) -> list[int]:
        """Near the slots, with a gap on all sides as far as there is room."""
        count = stop - first
        gap = max(1, min(GAP, (above - below) // (count + 1)))
        values: list[int] = []
        for i in range(stop - 1, first - 1, -1):
            most = above - gap * (i - first + 1)
            below = max(min(self._slots[i], most), below + gap)
            values.append(below)
        values.reverse()
        if gap < STEP:
            return values
        return [marked_below(v, self._base[first + i]) for i, v in enumerate(values)]


def longest_run(values: Sequence[int | None]) -> list[int]:
    """Places of the longest run, not rising, of the values that are given."""
    tails: list[int] = []  # negated last values of the best run of each length
    ends: list[int] = []
    before: list[int] = [-1] * len(values)
    for i, value in enumerate(values):
        if value is None:
            continue
        at = bisect_right(tails, -value)
        before[i] = ends[at - 1] if at else -1
        if at == len(tails):
            tails.append(-value)
            ends.append(i)
        else:
            tails[at], ends[at] = -value, i
    run: list[int] = []
    i = ends[-1] if ends else -1
    while i >= 0:
        run.append(i)
        i = before[i]
    return run[::-1]
