"""Slurm's scheduling in plain Python: strict order at events, cycles that plan (semantics)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill, SlurmBackfill
from dovetail.domain.trace import Trace
from tests.oracles.ordering import FairShare
from tests.oracles.reservations import Books
from tests.oracles.shapes import Amount, Kind, Option, fits, open_partitions
from tests.oracles.simulator import Answer, Play, RunTimePredictor


@dataclass(frozen=True)
class Planned:
    """Whole nodes that a job is to have over [begin, end)."""

    nodes: frozenset[int]
    begin: float
    end: float


@dataclass
class NodeSpace(Books):
    """Which nodes are left, and when: Slurm's table of the same name."""

    planned: list[Planned] = field(default_factory=list)

    def admits_over(self, node: int, chunk: Amount, start: float, end: float) -> bool:
        """The chunk fits at the start, and no planned job has the node before the end."""
        return (
            fits(chunk, self.room(node, start))
            and self.there.usable(node, start, end, self.now)
            and not any(
                node in other.nodes and other.begin < end and other.end > start
                for other in self.planned
            )
        )

    def plan(self, estimate: float, options: Sequence[Option], rule: SlurmBackfill) -> None:
        """Take the lowest nodes that the job can have the earliest, if that is soon enough."""
        times = {self.now, *(job.estimated_end for job in self.running)}
        times |= {other.end for other in self.planned} | set(self.there.returns(self.now))
        found: list[tuple[float, float, list[int]]] = []
        for option in options:
            length = estimate / option.speed
            for start in sorted(time for time in times if time >= self.now):
                nodes = self.lowest(option, start, start + length)
                if nodes is not None:
                    found.append((start, length, nodes))
                    break
        if not found:  # nobody knows when: too many nodes are down
            return
        start, length, nodes = min(found, key=lambda item: item[0])
        if start > self.now + 60 * rule.window:
            return
        begin = math.floor(start / rule.resolution) * rule.resolution
        end = math.ceil((start + length) / rule.resolution) * rule.resolution
        self.planned.append(Planned(frozenset(nodes), begin, end))

    def lowest(self, option: Option, start: float, end: float) -> list[int] | None:
        """The lowest nodes that admit all chunks of an option."""
        large = [n for n in option.hosts_large if self.admits_over(n, option.large, start, end)]
        small = [n for n in option.hosts_small if self.admits_over(n, option.small, start, end)]
        if len(large) < option.many or len(small) < option.width:
            return None
        chosen = large[: option.many]
        return chosen + [node for node in small if node not in chosen][: option.few]


@dataclass
class OpenNodes(Books):
    """Books in which nothing fits on closed nodes."""

    closed: set[int] = field(default_factory=set)

    def fits_now(self, node: int, chunk: Amount) -> bool:
        return node not in self.closed and super().fits_now(node, chunk)


class SlurmPlay(Play):
    """A play whose passes are Slurm's two schedulers."""

    def __init__(
        self,
        trace: Trace,
        cluster: Cluster,
        ordering: str,
        placement: str,
        rule: SlurmBackfill,
        estimates: Sequence[float],
        affinity: Mapping[str, Sequence[str]] | None,
        predictor: RunTimePredictor | None,
        reserve: Sequence[float] | None,
    ) -> None:
        none = Backfill.NONE
        super().__init__(
            trace, cluster, ordering, placement, none, estimates, affinity, predictor, reserve
        )
        self.rule = rule
        self.owners = FairShare(self.jobs)
        self.last_cycle, self.news = self.jobs[0].submit, False

    def next_time(self) -> float:
        due = self.last_cycle + self.rule.interval
        return min([super().next_time(), *([due] if self.news and self.waiting else [])])

    def hold(self, now: float) -> None:
        """All that happens at one time, then a cycle if it is due."""
        if self.news and self.last_cycle + self.rule.interval < now:
            self.last_cycle, self.news = self.last_cycle + self.rule.interval, False
        before = self.answer.events
        super().hold(now)
        self.news |= self.answer.events > before
        if self.news and self.waiting and now >= self.last_cycle + self.rule.interval:
            self.last_cycle = now
            self.news = self.cycle(now)

    def schedule(self, now: float) -> None:
        """The main scheduler: a job that cannot start closes its partitions' nodes to others."""
        books = OpenNodes(self.site, now, self.running, there=self.there)
        passed_over = {row for row in self.waiting if self.takes_too_much(row, books)}
        for row in self.queue(now):
            if (
                row in passed_over
                or self.bounds.reached(row, now)
                or self.takes_too_much(row, books)
            ):
                continue
            chunks = self.place(row, books)
            if chunks is not None:
                self.start(row, chunks, books)
            else:
                books.closed |= self.partition_nodes(row)

    def partition_nodes(self, row: int) -> set[int]:
        """As far as jobs of the same reservation, or of none, see them."""
        job = self.jobs[row]
        parts = open_partitions(job, self.site.cluster)
        inside = {node for part in parts for node in part.nodes}
        return {
            node
            for node, seen in enumerate(self.site.seen)
            if seen.reservation == job.reservation and (not parts or seen.real in inside)
        }

    def cycle(self, now: float) -> bool:
        """Plan the first jobs of the queue; whether any started."""
        self.backfill = Backfill.CONSERVATIVE  # nodes are admissible over the whole run
        space = NodeSpace(self.site, now, self.running, there=self.there)
        planned: set[Kind] = set()
        waiting = len(self.waiting)
        tried: dict[str | None, int] = {}
        looked_at = 0
        for row in self.queue(now):
            user = self.owners.account(self.jobs[row])
            if looked_at == self.rule.max_job_test:
                break
            if self.bounds.reached(row, now):
                continue
            tried[user] = tried.get(user, 0) + 1
            if self.rule.max_job_user and tried[user] > self.rule.max_job_user:
                continue
            looked_at += 1
            chunks = self.place(row, space)
            if chunks is not None:
                self.start(row, chunks, space)
                self.answer.backfilled[row] = bool(self.kinds[row] & planned)
            else:
                space.plan(self.reserve[row], self.options[row], self.rule)
                planned |= self.kinds[row]
        self.backfill = Backfill.NONE
        return len(self.waiting) < waiting


def simulate(
    trace: Trace,
    cluster: Cluster,
    ordering: str,
    placement: str,
    rule: SlurmBackfill,
    estimates: Sequence[float],
    affinity: Mapping[str, Sequence[str]] | None = None,
    predictor: RunTimePredictor | None = None,
    reserve: Sequence[float] | None = None,
) -> Answer:
    """Play the trace through; `reserve`: what reservations reckon with, if not the estimates."""
    play = SlurmPlay(
        trace, cluster, ordering, placement, rule, estimates, affinity, predictor, reserve
    )
    return play.to_the_end()
