"""Promises to jobs that cannot start: when, where, and what they leave to others (semantics, 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.oracles.outages import Availability
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
    later: list[float] = field(default_factory=list)  # what will be believed in, if it runs on
    early: list[float] = field(default_factory=list)  # when so, for the first of these

    @property
    def estimated_end(self) -> float:
        return self.start + self.length

    @property
    def revised_at(self) -> float:
        return self.start + self.early[0] if self.early else self.estimated_end

    def revise(self) -> None:
        """Believe in another length."""
        self.early = self.early[1:]
        self.length, self.later = (
            (self.later[0], self.later[1:]) if self.later else (2 * self.length, [])
        )


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
    there: Availability = field(default_factory=Availability)

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
        rooms = {
            node: self.room(node, held.start)
            for node in held.option.hosts_small
            if self.there.usable(node, held.start, held.end, self.now)
        }
        for node, chunk in taken:
            if node in rooms:
                rooms[node] = minus(rooms[node], chunk)
        large = sum(
            fits(held.option.large, rooms[n]) for n in held.option.hosts_large if n in rooms
        )
        small = sum(
            fits(held.option.small, rooms[n]) for n in held.option.hosts_small if n in rooms
        )
        return large >= held.option.many and (held.option.few == 0 or small >= held.option.width)

    def hosts_at(self, hosts: Sequence[int], chunk: Amount, start: float, end: float) -> int:
        """How many nodes have room for the chunk at a time, and are there until its end."""
        return sum(
            fits(chunk, self.room(node, start)) and self.there.usable(node, start, end, self.now)
            for node in hosts
        )

    def reserve_easy(
        self, row: int, estimate: float, options: Sequence[Option]
    ) -> Reservation | None:
        """The earliest time at which some option is free, ties to the earlier option; None: nobody
        knows such a time."""
        times = {self.now, *(job.estimated_end for job in self.running)}
        times |= set(self.there.returns(self.now))
        found: list[tuple[float, Option]] = []
        for option in options:
            length = estimate / option.speed
            for start in sorted(time for time in times if time >= self.now):
                end = start + length
                large = self.hosts_at(option.hosts_large, option.large, start, end)
                small = self.hosts_at(option.hosts_small, option.small, start, end)
                if large >= option.many and (option.few == 0 or small >= option.width):
                    found.append((start, option))
                    break
        if not found:
            return None
        start, option = min(found, key=lambda item: item[0])
        end = start + estimate / option.speed
        held = Reservation(row, self.site.kinds(options), start, end, option)
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
