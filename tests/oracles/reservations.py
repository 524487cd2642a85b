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
    """When the first blocked job is to start, and how."""

    row: int
    kinds: frozenset[Kind]
    start: float
    end: float
    option: Option


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

    # -- ways that plan whole runs ---------------------------------------------------------

    def admits_over(self, node: int, chunk: Amount, start: float, end: float) -> bool:
        """Is the chunk free at every moment of [start, end)?"""
        raise NotImplementedError

    def admits_run(
        self, node: int, chunk: Amount, length: float, taken: Sequence[tuple[int, Amount]]
    ) -> bool:
        """The same from now on, beside chunks that the job has on other nodes already."""
        return self.admits_over(node, chunk, self.now, self.now + length)
