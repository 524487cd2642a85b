"""The memory's cluster as the daemon sees it: through messages that can be lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum

from dovetail.live.backends.base import Unreachable, Unreadable
from dovetail.live.backends.recorded.cluster import MemoryCluster
from dovetail.live.model.decision import Change, Result
from dovetail.live.model.site import SiteSettings
from dovetail.live.model.snapshot import Factor, Snapshot

NO_ANSWER = "scontrol: no answer within 30 s"


class Fault(Enum):
    """What becomes of one message with changes."""

    NONE = "answered"
    LOST = "never arrives, no answer"
    UNANSWERED = "done, but the answer is lost"
    LATE = "no answer; done when `deliver` is called"
    HALF = "the first half is done, then the connection breaks"
    UNDONE = "answered as done, but not done: backfill undid it"
    REFUSED = "no right to change jobs"


class ReadFault(Enum):
    """What becomes of one question."""

    NONE = "answered"
    DOWN = "the controller is down"
    GARBAGE = "an answer that makes no sense"
    EMPTY = "an answer without any job, as for a user who lost the right to see them"


class RecordedBackend:
    """Applies the next fault of each list to the next message, and none when a list is used up."""

    name = "recorded"

    def __init__(
        self,
        cluster: MemoryCluster,
        faults: Iterable[Fault] = (),
        read_faults: Iterable[ReadFault] = (),
    ) -> None:
        self.cluster = cluster
        self.faults, self.read_faults = deque(faults), deque(read_faults)
        self.clock_error = 0.0  # seconds that the controller's clock has jumped
        self.sent: list[Change] = []  # every change that was ever asked for
        self._late: list[Change] = []

    def read(self) -> Snapshot:
        fault = self._maybe_fail()
        snapshot = self.cluster.snapshot()
        if fault is ReadFault.EMPTY:
            snapshot = replace(snapshot, jobs=(), factors={})
        return replace(snapshot, time=snapshot.time + self.clock_error)

    def factors(self) -> Mapping[int, Factor]:
        self._maybe_fail()
        return self.cluster.factors()

    def settings(self) -> Mapping[str, str]:
        return {"PriorityType": "priority/multifactor", "PriorityWeightAge": "1000"}

    def site(self) -> SiteSettings:
        return SiteSettings(self.settings())

    def apply(self, changes: Sequence[Change]) -> list[Result]:
        self.sent += changes
        fault = self.faults.popleft() if self.faults else Fault.NONE
        if fault is Fault.REFUSED:
            return [Result(change, "Access/permission denied") for change in changes]
        if fault is Fault.UNDONE:
            return [Result(change) for change in changes]
        if fault is Fault.LATE:
            self._late += changes
        reached = {Fault.NONE: len(changes), Fault.UNANSWERED: len(changes)}.get(fault, 0)
        reached = (len(changes) + 1) // 2 if fault is Fault.HALF else reached
        results = [Result(change, self.cluster.take(change)) for change in changes[:reached]]
        if fault is not Fault.NONE:
            raise Unreachable(NO_ANSWER)
        return results

    def deliver(self) -> None:
        """Messages that were late arrive now."""
        late, self._late = self._late, []
        for change in late:
            self.cluster.take(change)

    def _maybe_fail(self) -> ReadFault:
        fault = self.read_faults.popleft() if self.read_faults else ReadFault.NONE
        if fault is ReadFault.DOWN:
            raise Unreachable("slurmctld does not answer: Slurmctld(primary) at head is DOWN")
        if fault is ReadFault.GARBAGE:
            raise Unreadable("Slurm's answer has a shape that is not known")
        return fault
