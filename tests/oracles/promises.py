"""Conservative backfilling: promises that are kept from pass to pass (semantics, 5)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

from tests.oracles.reservations import Books
from tests.oracles.shapes import Amount, Option, Site, fits, minus

NodeSet = tuple[int, ...]
"""One node, or several that are only ever given out whole."""


def node_sets(
    site: Site, options: Iterable[Option], changing: Container[int] = ()
) -> list[NodeSet]:
    """Nodes that every option uses whole, and all or none of them, are one set; nodes that are not
    always there are alone."""
    every = list(options)
    alike: dict[tuple[object, ...], list[int]] = {}
    for node, (gpus, *_) in enumerate(site.capacity):
        large = tuple(node in option.hosts_large for option in every)
        small = tuple(node in option.hosts_small for option in every)
        whole = gpus > 0 and all(
            option.large[0] == option.small[0] == gpus
            for option in every
            if node in option.hosts_small
        )
        together = whole and node not in changing
        alike.setdefault((large, small) if together else (node,), []).append(node)
    return sorted(tuple(nodes) for nodes in alike.values())


@dataclass(frozen=True)
class Promise:
    """When a waiting job is to start, and how many chunks of which size it is to have where."""

    start: float
    end: float
    chunks: dict[NodeSet, tuple[int, Amount]]


@dataclass
class Ledger(Books):
    """Who runs where, and who has been promised what."""

    sets: Sequence[NodeSet] = ()
    promises: dict[int, Promise] = field(default_factory=dict)  # by row

    def left(self, nodes: NodeSet, moment: float) -> Amount:
        """What running and promised jobs leave of a set at a moment."""
        rooms = [self.room(node, moment) for node in nodes]
        left = sum(r[0] for r in rooms), sum(r[1] for r in rooms), sum(r[2] for r in rooms)
        for promise in self.promises.values():
            if nodes in promise.chunks and promise.start <= moment < promise.end:
                count, chunk = promise.chunks[nodes]
                for _ in range(count):
                    left = minus(left, chunk)
        return left

    def count_at(self, nodes: NodeSet, chunk: Amount, moment: float) -> int:
        """How many chunks of one job fit; of nodes given out whole GPUs alone are counted."""
        if not all(self.there.is_open(node, moment, self.now) for node in nodes):
            return 0
        left = self.left(nodes, moment)
        return left[0] // chunk[0] if len(nodes) > 1 else int(fits(chunk, left))

    def count(self, nodes: NodeSet, chunk: Amount, start: float, end: float) -> int:
        """How many fit at every moment of [start, end): it can fall only where a promise begins."""
        begins = [held.start for held in self.promises.values() if start < held.start < end]
        begins += self.there.leaves(start, end)
        return min(self.count_at(nodes, chunk, moment) for moment in [start, *begins])

    def admits_run(
        self, node: int, chunk: Amount, length: float, taken: Sequence[tuple[int, Amount]]
    ) -> bool:
        """The chunk fits now and until its end, beside all promises and the job's other chunks."""
        nodes = next(nodes for nodes in self.sets if node in nodes)
        spent = sum(other in nodes for other, _ in taken)
        room = self.count(nodes, chunk, self.now, self.now + length)
        return self.fits_now(node, chunk) and room > spent

    def promise(self, row: int, estimate: float, options: Sequence[Option]) -> None:
        """The earliest start of all, ties to the earlier option. A promise already made stays as
        it is unless it can be brought forward."""
        kept = self.promises.pop(row, None)
        found = []
        for option in options:
            length = estimate / option.speed
            for start in self.times():
                if self.has_room(option, start, start + length):
                    found.append((start, start + length, option))
                    break
        if not found:  # nobody knows when: too many nodes are down
            assert kept is None
            return
        start, end, option = min(found, key=lambda item: item[0])
        if kept is not None and kept.start <= start:
            self.promises[row] = kept
        else:
            self.promises[row] = Promise(start, end, self.choose(option, start, end))

    def times(self) -> list[float]:
        """When room can begin."""
        ends = {job.estimated_end for job in self.running}
        ends |= {held.end for held in self.promises.values()} | set(self.there.returns(self.now))
        return sorted({self.now} | ends)

    def has_room(self, option: Option, start: float, end: float) -> bool:
        large = sum(
            self.count(nodes, option.large, start, end) for nodes in self.within(option.hosts_large)
        )
        small = sum(
            self.count(nodes, option.small, start, end) for nodes in self.within(option.hosts_small)
        )
        return large >= option.many and small >= option.width

    def within(self, hosts: Sequence[int]) -> list[NodeSet]:
        return [nodes for nodes in self.sets if nodes[0] in hosts]

    def choose(self, option: Option, start: float, end: float) -> dict[NodeSet, tuple[int, Amount]]:
        """Sets that get room the latest before the start, then those with least left."""
        chosen: dict[NodeSet, tuple[int, Amount]] = {}
        for hosts, chunk, missing in (
            (option.hosts_large, option.large, option.many),
            (option.hosts_small, option.small, option.few),
        ):
            others = [nodes for nodes in self.within(hosts) if nodes not in chosen]
            able = [nodes for nodes in others if self.count(nodes, chunk, start, end) > 0]
            able.sort(
                key=lambda nodes: (
                    -self.free_since(nodes, chunk, start, end),
                    self.left(nodes, start)[0],
                )
            )
            for nodes in able:
                taken = min(missing, self.count(nodes, chunk, start, end))
                if taken > 0:
                    chosen[nodes] = taken, chunk
                    missing -= taken
        return chosen

    def free_since(self, nodes: NodeSet, chunk: Amount, start: float, end: float) -> float:
        """From when on the chunk fits without a break up to the end."""
        return next(t for t in self.times() if t <= start and self.count(nodes, chunk, t, end) > 0)
