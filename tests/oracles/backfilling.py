"""What EASY owes to reserved jobs and to those behind them, checked from a schedule alone.

The queue is in order of arrival, all jobs end when estimated, and none is shorter than a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dovetail.domain.schedule import Schedule
from tests.oracles.answers import answer_of
from tests.oracles.reservations import Books, Reservation, Running
from tests.oracles.shapes import Kind, Option, Site, fits, jobs_of


@dataclass
class Pass:
    """The state after a pass: who runs, who waits, who has a reservation."""

    books: Books
    waiting: list[int]


class Replay:
    """A schedule, pass by pass."""

    def __init__(self, schedule: Schedule) -> None:
        self.jobs = jobs_of(schedule.trace, schedule.cluster)
        self.site = Site(schedule.cluster, self.jobs)
        answer = answer_of(schedule)
        self.start, self.end = schedule.start.tolist(), schedule.end.tolist()
        self.where = answer.where
        self.rows = [job.row for job in self.jobs if job.row not in answer.rejected]
        self.options: dict[int, list[Option]] = {
            row: self.site.options(self.jobs[row]) for row in self.rows
        }

    def passes(self) -> Iterator[Pass]:
        submits = {self.jobs[row].submit for row in self.rows}
        for now in sorted(submits | {self.end[row] for row in self.rows}):
            yield self.after_pass(now)

    def after_pass(self, now: float) -> Pass:
        """Go through the queue again; the first waiting job of its kinds has a reservation."""
        running = [self.running(row) for row in self.rows if self.start[row] < now < self.end[row]]
        books, reserved = Books(self.site, now, running), set[Kind]()
        waiting = []
        for row in self.rows:
            if self.jobs[row].submit > now or self.start[row] < now:
                continue
            kinds = self.site.kinds(self.options[row])
            if self.start[row] == now:
                running.append(self.running(row))
                continue
            waiting.append(row)
            if not kinds & reserved:
                books.reserve_easy(row, self.jobs[row].run, self.options[row])
                reserved |= kinds
        return Pass(books, waiting)

    def running(self, row: int) -> Running:
        job, length = self.jobs[row], self.end[row] - self.start[row]
        chunks = {node: self.site.held(job, node, len(gpus)) for node, gpus in self.where[row]}
        return Running(row, self.start[row], self.end[row], length, chunks, dict(self.where[row]))


def check_reserved_jobs(schedule: Schedule) -> None:
    """Whoever heads the queue starts by the time promised, in every pass."""
    replay = Replay(schedule)
    for after in replay.passes():
        for held in after.books.reservations:
            if not _is_head(replay, after, held):
                continue
            assert replay.start[held.row] <= held.start, (
                f"at {after.books.now} job {held.row} was promised {held.start} and started at "
                f"{replay.start[held.row]}"
            )


def _is_head(replay: Replay, after: Pass, held: Reservation) -> bool:
    """Nobody who waits stands before it and could take its nodes later."""
    before = after.waiting[: after.waiting.index(held.row)]
    return not any(replay.site.kinds(replay.options[row]) & held.kinds for row in before)


def check_waiting_jobs(schedule: Schedule) -> None:
    """No job for one node waits that could run without delaying a reserved one."""
    replay = Replay(schedule)
    for after in replay.passes():
        for row in after.waiting:
            for option in replay.options[row]:
                if option.width == 1:
                    _check_refused(replay, after.books, row, option)


def _check_refused(replay: Replay, books: Books, row: int, option: Option) -> None:
    for node in option.hosts_large:
        end = books.now + replay.jobs[row].run / replay.site.speed(node, replay.jobs[row])
        harmless = all(
            end <= held.start or _can_do_without(books, held, node) for held in books.reservations
        )
        assert not (books.fits_now(node, option.large) and harmless), (
            f"at {books.now} job {row} waits, though node {node} is free for it"
        )


def _can_do_without(books: Books, held: Reservation, node: int) -> bool:
    """The node is none that the reserved job could use then, or it has more than it needs."""
    option = held.option
    large = [n for n in option.hosts_large if fits(option.large, books.room(n, held.start))]
    small = [n for n in option.hosts_small if fits(option.small, books.room(n, held.start))]
    if node not in small:
        return True
    return len(large) > option.many and (option.few == 0 or len(small) > option.width)
