"""Promises to jobs that cannot start: when, where, and what they leave to others (semantics, 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.oracles.shapes import Amount, Kind, Option, Site, fits, minus


@dataclass
class Running:
    """A job on its nodes, with the length that the scheduler believes in."""

    row: int
    start: float
    end: float  # true
    length: float
    chunks: dict[int, Amount]  # by node
    gpus: dict[int, list[int]]  # by node

    @property
    def estimated_end(self) -> float:
        return self.start + self.length


@dataclass
class Reservation:
    """A job's promised start on promised nodes."""

    row: int
    kinds: frozenset[Kind]
    start: float
    end: float
    option: Option
    chunks: dict[int, Amount] = field(default_factory=dict)  # by node, conservative only


@dataclass
class Books:
    """Who runs where, and who has been promised what in this pass."""

    site: Site
    now: float
    running: Sequence[Running]
    reservations: list[Reservation] = field(default_factory=list)

    def room(self, node: int, moment: float) -> Amount:
        """What running jobs leave free, if they end at their estimated ends."""
        left = self.site.capacity[node]
        for job in self.running:
            if node in job.chunks and job.estimated_end > moment:
                left = minus(left, job.chunks[node])
        return left

    def fits_now(self, node: int, chunk: Amount) -> bool:
        return fits(chunk, self.room(node, self.now))

    # -- easy ------------------------------------------------------------------------------

    def admits_easy(
        self, node: int, chunk: Amount, length: float, taken: Sequence[tuple[int, Amount]]
    ) -> bool:
        """The chunk fits now, and with it every job with a reservation can still start in time.

        `taken`: chunks that the same job has on other nodes already.
        """
        return self.fits_now(node, chunk) and all(
            self.now + length <= held.start or self.keeps(held, [*taken, (node, chunk)])
            for held in self.reservations
        )

    def keeps(self, held: Reservation, taken: Sequence[tuple[int, Amount]]) -> bool:
        """Whether enough nodes have room at the promised time beside these chunks."""
        rooms = {node: self.room(node, held.start) for node in held.option.hosts_small}
        for node, chunk in taken:
            if node in rooms:
                rooms[node] = minus(rooms[node], chunk)
        large = sum(fits(held.option.large, rooms[n]) for n in held.option.hosts_large)
        small = sum(fits(held.option.small, rooms[n]) for n in held.option.hosts_small)
        return large >= held.option.many and (held.option.few == 0 or small >= held.option.width)

    def fits_at(self, node: int, chunk: Amount) -> float:
        """When the chunk fits, if nothing new starts."""
        ends = sorted(job.estimated_end for job in self.running if node in job.chunks)
        return next(t for t in [self.now, *ends] if fits(chunk, self.room(node, t)))

    def reserve_easy(self, row: int, estimate: float, options: Sequence[Option]) -> Reservation:
        """The earliest time at which some option is free, ties to the earlier option."""
        found: list[tuple[float, Option]] = []
        for option in options:
            large = sorted(self.fits_at(n, option.large) for n in option.hosts_large)
            small = sorted(self.fits_at(n, option.small) for n in option.hosts_small)
            times = [large[option.many - 1]]
            if option.few:
                times.append(small[option.width - 1])
            found.append((max(times), option))
        start, option = min(found, key=lambda item: item[0])
        held = Reservation(row, self.site.kinds(options), start, start + estimate, option)
        self.reservations.append(held)
        return held

    # -- conservative ----------------------------------------------------------------------

    def admits_over(self, node: int, chunk: Amount, start: float, end: float) -> bool:
        """Is the chunk free at every moment of [start, end)?"""
        begins = [held.start for held in self.reservations if start < held.start < end]
        return all(fits(chunk, self.unpromised(node, moment)) for moment in [start, *begins])

    def unpromised(self, node: int, moment: float) -> Amount:
        left = self.room(node, moment)
        for held in self.reservations:
            if node in held.chunks and held.start <= moment < held.end:
                left = minus(left, held.chunks[node])
        return left

    def reserve_conservative(
        self, row: int, estimate: float, options: Sequence[Option]
    ) -> Reservation:
        """The earliest time at which some option is free for as long as the job needs it."""
        times = {self.now} | {job.estimated_end for job in self.running}
        times |= {held.end for held in self.reservations}
        found: list[tuple[float, float, Option, dict[int, Amount]]] = []
        for option in options:
            length = estimate / self.site.speed(option.hosts_small[0])
            for start in sorted(times):
                end = start + length
                large = [
                    n for n in option.hosts_large if self.admits_over(n, option.large, start, end)
                ]
                small = [
                    n for n in option.hosts_small if self.admits_over(n, option.small, start, end)
                ]
                if len(large) >= option.many and len(small) >= option.width:
                    chunks = dict.fromkeys(large[: option.many], option.large)
                    rest = [node for node in small if node not in chunks][: option.few]
                    chunks |= dict.fromkeys(rest, option.small)
                    found.append((start, end, option, chunks))
                    break
        start, end, option, chunks = min(found, key=lambda item: item[0])
        held = Reservation(row, self.site.kinds(options), start, end, option, chunks)
        self.reservations.append(held)
        return held
