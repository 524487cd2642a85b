"""A slow, obvious simulator: what the compiled one must agree with, job by job."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill
from dovetail.domain.trace import Trace
from tests.oracles.eligibility import NEVER, Eligibility
from tests.oracles.fair_tree import FairTree
from tests.oracles.limits import Limits
from tests.oracles.ordering import FairShare, Moment, limits, mean_use, score
from tests.oracles.outages import Availability
from tests.oracles.placement import Chunks, place, preference
from tests.oracles.promises import Ledger, Promise, node_sets
from tests.oracles.reservations import Books, Running
from tests.oracles.shapes import Amount, Kind, Option, Site, groups_of, jobs_of
from tests.oracles.type_ranks import listed, suited

Where = list[tuple[int, list[int]]]  # node and GPU numbers, in the order chosen


class RunTimePredictor(Protocol):
    """Prediction from history: asked on arrival, told on completion."""

    def predict(self, row: int) -> float: ...
    def observe(self, row: int, seconds: float) -> None: ...


@dataclass
class Answer:
    """Everything about a schedule that two simulators must agree on."""

    start: list[float]  # NaN: rejected
    where: list[Where]
    backfilled: list[bool]
    rejected: set[int] = field(default_factory=set)
    events: int = 0
    promised: dict[int, float] = field(default_factory=dict)
    """The first time promised to a job; easy: while none before it in the queue could delay it."""


def simulate(
    trace: Trace,
    cluster: Cluster,
    ordering: str,
    placement: str,
    backfill: Backfill,
    estimates: Sequence[float],
    affinity: Mapping[str, Sequence[str]] | None = None,
    predictor: RunTimePredictor | None = None,
    reserve: Sequence[float] | None = None,
    forecasts: Sequence[tuple[float, float, float]] | None = None,
    revisions: Sequence[Sequence[float]] = (),
) -> Answer:
    """Play the trace through; `reserve`: what reservations reckon with, if not the estimates."""
    play = Play(
        trace, cluster, ordering, placement, backfill, estimates, affinity, predictor, reserve
    )
    play.revisions = revisions
    play.forecasts = forecasts or play.forecasts
    return play.to_the_end()


class Play:
    """One simulation as it goes on."""

    def __init__(
        self,
        trace: Trace,
        cluster: Cluster,
        ordering: str,
        placement: str,
        backfill: Backfill,
        estimates: Sequence[float],
        affinity: Mapping[str, Sequence[str]] | None,
        predictor: RunTimePredictor | None,
        reserve: Sequence[float] | None,
    ) -> None:
        self.jobs = jobs_of(trace, cluster)
        self.site = Site(cluster, self.jobs)
        self.jobs = [self.site.without_reservation(job) for job in self.jobs]
        self.ordering, self.placement, self.backfill = ordering, placement, backfill
        self.rank_of = suited(cluster) if placement == "suited" else listed(affinity or {})
        self.predictor = predictor
        count = len(self.jobs)
        self.estimate = [max(1.0, float(told)) for told in estimates]
        self.reserve = [max(1.0, float(told)) for told in reserve or estimates]
        self.predicted = [math.nan] * count
        self.revisions: Sequence[Sequence[float]] = ()  # of each job, see `Running.later`
        self.forecasts: Sequence[tuple[float, float, float]] = [(0.0, 0.0, 0.0)] * count
        self.in_use = (0.0, 0.0)  # at the beginning of this pass: see `mean_use`
        self.options: dict[int, list[Option]] = {}
        self.kinds: dict[int, frozenset[Kind]] = {}
        self.seen: dict[int, int] = {}
        self.pending = list(range(count))
        self.waiting: list[int] = []
        self.running: list[Running] = []
        tree = bool(cluster.associations)
        self.fair_share: FairShare | FairTree = (
            FairTree(self.jobs, cluster) if tree else FairShare(self.jobs)
        )
        options = [option for job in self.jobs for option in self.site.options(job, self.rank_of)]
        self.there = Availability(self.site, self.jobs[0].submit)
        self.sets = node_sets(self.site, options, self.there.nodes)
        self.promises: dict[int, Promise] = {}  # conservative only
        self.ended = self.extended = False  # since the last pass
        self.bounds = Limits(self.site.cluster, self.jobs)
        self.eligibility = Eligibility(self.jobs)
        self.since = [job.submit for job in self.jobs]  # when it was eligible
        self.noticed = -math.inf  # when something last happened to a node
        self.answer = Answer([math.nan] * count, [[] for _ in self.jobs], [False] * count)

    def to_the_end(self) -> Answer:
        while (now := self.next_time()) < NEVER:
            self.hold(now)
        assert not self.waiting or self.there.closed, "a job with options never started"
        # What they wait for never comes to pass, or nodes never come back.
        self.answer.rejected |= {*self.pending, *self.waiting}
        for where in self.answer.where:
            where[:] = [(self.site.seen[node].real, gpus) for node, gpus in where]
        return self.answer

    def next_time(self) -> float:
        times = [job.end for job in self.running]
        times += [job.revised_at for job in self.running if job.revised_at < job.end]
        times += [promise.start for promise in self.promises.values()]
        times += [self.eligibility.time(row) for row in self.pending]
        soonest = min(times, default=NEVER)
        if soonest == NEVER and not self.waiting:
            return NEVER  # no job is left that could notice what happens to nodes
        return min(soonest, self.there.after(self.noticed))

    def hold(self, now: float) -> None:
        """All that happens at one time."""
        self.fair_share.advance(now, self.running_gpus())
        ended = sorted(job.row for job in self.running if job.end == now)
        for job in self.running:
            if job.end == now:
                self.fair_share.change(self.jobs[job.row], list(job.chunks.values()), -1)
        self.running = [job for job in self.running if job.end != now]
        for row in ended:
            self.bounds.end(row)
            self.eligibility.ended[row] = now
            if self.predictor is not None:
                self.predictor.observe(row, self.jobs[row].run)
        overrun = [job for job in self.running if job.revised_at == now]
        for job in overrun:
            job.revise()
        arrived = self.submit_held(now)
        happened = self.there.count(now) if now > self.noticed else 0
        if happened:
            self.noticed = now
            for node in self.there.failing(now):
                for job in [job for job in self.running if node in job.chunks]:
                    self.kill(job, now)
                arrived += self.submit_held(now)
        arrived += self.submit_others(now) + self.submit_held(now)
        self.answer.events += len(ended) + len(overrun) + len(arrived) + happened
        self.ended |= bool(ended)
        self.extended |= bool(overrun) or happened > 0
        came = happened > 0 or any(row not in self.answer.rejected for row in arrived)
        due = any(promise.start == now for promise in self.promises.values())
        if ended or came or due:
            if self.backfill is Backfill.CONSERVATIVE:
                self.keep_promises(now)
            else:
                self.schedule(now)
            self.ended = self.extended = False

    def submit_held(self, now: float) -> list[int]:
        """Who has waited for others and may run from now on; one that is rejected frees others."""
        arrived: list[int] = []
        while due := [row for row in self.due(now) if self.eligibility.is_held(row)]:
            self.submit(due[0], now)
            arrived.append(due[0])
        return arrived

    def submit_others(self, now: float) -> list[int]:
        arrived = [row for row in self.due(now) if not self.eligibility.is_held(row)]
        for row in arrived:
            self.submit(row, now)
        return arrived

    def due(self, now: float) -> list[int]:
        return [row for row in self.pending if self.eligibility.time(row) == now]

    def kill(self, job: Running, now: float) -> None:
        """A node has failed under a job: it begins again, or that was its end."""
        row = job.row
        self.running.remove(job)
        self.fair_share.change(self.jobs[row], list(job.chunks.values()), -1)
        self.ended = True
        if not self.site.cluster.requeues:
            self.bounds.end(row)
            self.eligibility.ended[row] = now
            return
        self.bounds.stop(row)
        self.answer.start[row], self.answer.where[row] = math.nan, []
        self.answer.backfilled[row] = False
        self.since[row] = now
        self.waiting.append(row)

    def submit(self, row: int, now: float) -> None:
        self.pending.remove(row)
        self.since[row] = now
        options = self.site.options(self.jobs[row], self.rank_of)
        if not options or not self.bounds.accepts(row, options[0].width):
            self.answer.rejected.add(row)
            self.eligibility.started[row] = self.eligibility.ended[row] = now
            return
        if self.predictor is not None:
            self.predicted[row] = self.predictor.predict(row)
        self.options[row], self.kinds[row] = options, self.site.kinds(options)
        largest = options[0].large[0]
        self.seen[largest] = self.seen.get(largest, 0) + 1
        self.waiting.append(row)

    def running_gpus(self) -> dict[Any, float]:
        gpus: dict[Any, float] = {}
        for job in self.running:
            account = self.fair_share.account(self.jobs[job.row])
            size = self.jobs[job.row].size(self.site.cluster)
            gpus[account] = gpus.get(account, 0.0) + size
        return gpus

    def queue(self, now: float) -> list[int]:
        """The waiting jobs, the next one first."""
        shares: Mapping[Any, float] = self.fair_share.shares()

        def key(row: int) -> tuple[int, float, int]:
            job = replace(self.jobs[row], submit=self.since[row])
            account: Any = self.fair_share.account(job)
            moment = Moment(
                now, self.jobs[0].submit, self.site.cluster, shares, account,
                self.forecasts[row], *self.in_use,
            )  # fmt: skip
            value = score(self.ordering, job, self.estimate[row], self.predicted[row], moment)
            return -self.bounds.tier(row), value, row

        return sorted(self.waiting, key=key)

    def keep_promises(self, now: float) -> None:
        """One pass of conservative backfilling."""
        self.in_use = mean_use(now, self.site.cluster, self.jobs, self.running)
        nothing_promised = Ledger(self.site, now, self.running, there=self.there, sets=self.sets)
        out = {
            row
            for row in self.waiting
            if self.takes_too_much(row, nothing_promised) or self.bounds.reached(row, now)
        }
        ledger = Ledger(
            self.site,
            now,
            self.running,
            there=self.there,
            sets=self.sets,
            promises=self.promises,
        )
        for row in list(self.promises):
            if self.extended or row in out:
                del self.promises[row]
        queue = self.queue(now)
        kept = [row for row in queue if row in self.promises]
        for row in [*kept, *(row for row in queue if row not in kept and row not in out)]:
            if self.bounds.reached(row, now):
                self.promises.pop(row, None)
                out.add(row)
                continue
            if self.ended or row not in kept:
                ledger.promise(row, self.reserve[row], self.options[row])
            if row not in self.promises:
                out.add(row)
                continue
            self.answer.promised.setdefault(row, self.promises[row].start)
            if self.promises[row].start == now:
                del self.promises[row]
                if self.takes_too_much(row, ledger):
                    out.add(row)
                    continue
                chunks = self.place(row, ledger)
                assert chunks is not None, "a promise could not be kept"
                self.start(row, chunks, ledger)
        for at, row in enumerate(queue):
            if row not in self.waiting:
                before = [other for other in queue[:at] if other in self.waiting]
                self.answer.backfilled[row] = any(
                    self.kinds[row] & self.kinds[other] for other in before if other not in out
                )

    def schedule(self, now: float) -> None:
        """One pass over the queue, without promises that outlive it."""
        self.in_use = mean_use(now, self.site.cluster, self.jobs, self.running)
        books = Books(self.site, now, self.running, there=self.there)
        held_back: set[Kind] = set()  # kinds of all jobs that did not start
        reserved: set[Kind] = set()  # kinds of all jobs with a reservation
        passed_over = {row for row in self.waiting if self.takes_too_much(row, books)}
        for row in self.queue(now):
            if (
                row in passed_over
                or self.bounds.reached(row, now)
                or self.takes_too_much(row, books)
            ):
                continue
            kinds = self.kinds[row]
            if self.backfill is Backfill.NONE and kinds & held_back:
                chunks = None
            else:
                chunks = self.place(row, books)
            if self.limits(row)[0] < 0 and kinds & reserved:
                chunks = None
            if chunks is not None:
                self.start(row, chunks, books)
                self.answer.backfilled[row] = bool(kinds & reserved)
                continue
            if self.backfill is Backfill.EASY and not kinds & reserved:
                held = books.reserve_easy(row, self.reserve[row], self.options[row])
                if held is None:  # nobody knows when it could start: nobody waits for that
                    continue
                if not kinds & held_back:
                    self.answer.promised.setdefault(row, held.start)
                reserved |= kinds
            held_back |= kinds

    def limits(self, row: int) -> tuple[float, float]:
        return limits(self.ordering, self.jobs[row], self.estimate[row], self.in_use[1])

    def takes_too_much(self, row: int, books: Books) -> bool:
        """Whether a job could start and would leave fewer GPUs free than its policy wants."""
        _, keep = self.limits(row)
        if keep <= 0 or self.jobs[row].gpus == 0 or self.place(row, books, foresees=False) is None:
            return False
        nodes = [n for n, kind in enumerate(self.site.kind) if kind in self.kinds[row]]
        nodes = [n for n in nodes if self.there.is_open(n, books.now, books.now)]
        free = sum(books.room(node, books.now)[0] for node in nodes)
        used = [
            len(gpus)
            for job in self.running
            for node, gpus in job.gpus.items()
            if self.site.kind[node] in self.kinds[row]
        ]
        idle = sum(used) == 0
        return not idle and free - self.jobs[row].gpus < keep

    def place(self, row: int, books: Books, foresees: bool = True) -> Chunks | None:
        """Nodes for a job; who does not foresee looks only at what is there now."""

        def admits(node: int, chunk: Amount, taken: Chunks) -> bool:
            length = self.reserve[row] / self.site.speed(node, self.jobs[row])
            if not self.there.is_open(node, books.now, books.now):
                return False
            end = books.now + length
            if foresees and not self.there.usable(node, books.now, end, books.now):
                return False
            planned = self.backfill is Backfill.CONSERVATIVE
            if self.backfill is Backfill.NONE or (planned and not foresees):
                return books.fits_now(node, chunk)
            if self.backfill is Backfill.EASY:
                return books.admits_easy(node, chunk, length, taken)
            return books.admits_run(node, chunk, length, taken)

        def prefer(node: int, chunk: Amount) -> float:
            free, *_ = books.room(node, books.now)
            run = (
                books.now + self.reserve[row] / self.site.speed(node, self.jobs[row])
            ) - books.now
            ends = [job.estimated_end for job in self.running if node in job.gpus]
            busy = max(ends, default=books.now) - books.now
            return preference(self.placement, chunk[0], free, run, busy, self.seen)

        few_switches = self.placement == "topology-aware"
        return place(self.site, groups_of(self.options[row]), admits, prefer, few_switches)

    def start(self, row: int, chunks: Chunks, books: Books) -> None:
        where = [(node, self.lowest_free(node, chunk[0])) for node, chunk in chunks]
        speed = self.site.speed(chunks[0][0], self.jobs[row])
        job = Running(
            row,
            books.now,
            books.now + self.jobs[row].run / speed,
            self.reserve[row] / speed,
            dict(chunks),
            dict(where),
        )
        if self.backfill in (Backfill.NONE, Backfill.EASY) and self.revisions:
            job.later = [seconds / speed for seconds in self.revisions[row]]
            job.early = [job.length / 16, job.length / 8, job.length / 4, job.length / 2]
        self.running.append(job)
        self.bounds.start(row, books.now)
        self.fair_share.change(self.jobs[row], list(job.chunks.values()), 1)
        self.eligibility.started.setdefault(row, books.now)
        self.waiting.remove(row)
        self.answer.start[row], self.answer.where[row] = books.now, where

    def lowest_free(self, node: int, count: int) -> list[int]:
        busy = {gpu for job in self.running for gpu in job.gpus.get(node, ())}
        free = [gpu for gpu in range(self.site.capacity[node][0]) if gpu not in busy]
        return free[:count]
