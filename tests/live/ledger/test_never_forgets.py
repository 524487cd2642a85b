"""Whatever happens, the ledger knows every job that may still carry a value of ours."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dovetail.live.backends.base import BackendError
from dovetail.live.backends.recorded import Fault, MemoryCluster, RecordedBackend
from dovetail.live.config import JournalConfig
from dovetail.live.cycle.actuator import Actuator, Clocks
from dovetail.live.journal import Journal, JournalError
from dovetail.live.ledger import Key, Ledger
from dovetail.live.ledger.restore import restore
from dovetail.live.model.decision import Change, Knob, Value

MEMORY = Path("/dev/shm")
FAULTS = st.sampled_from(list(Fault))
VALUES = st.sampled_from([3, 5, 7, 900])
WISHES = st.dictionaries(
    st.tuples(st.integers(0, 3), st.sampled_from([Knob.SITE_FACTOR, Knob.PRIORITY])),
    VALUES, min_size=1, max_size=4,
)  # fmt: skip


class Watched(MemoryCluster):
    """Remembers which values are ours: the last to set them was a message of ours."""

    def __init__(self) -> None:
        super().__init__(MemoryCluster.of_nodes(1, gpus=2).nodes)
        self.ours: dict[Key, Value] = {}

    def take(self, change: Change) -> str:
        error = super().take(change)
        if not error:
            self.ours[Key(change.job, change.knob)] = change.after
        return error

    def carrying(self) -> set[Key]:
        """Waiting jobs that show a value of ours."""
        shown = set()
        for job, factor in self.factors().items():
            for knob, value in ((Knob.SITE_FACTOR, factor.site), (Knob.PRIORITY, factor.priority)):
                set_by_hand = factor.frozen if knob is Knob.PRIORITY else value != 0
                if set_by_hand and self.ours.get(Key(job, knob)) == value:
                    shown.add(Key(job, knob))
        return shown


class Steering(RuleBasedStateMachine):
    """A queue, an operator, a daemon that dies at any moment, and a disk that fills up."""

    @initialize()
    def begin(self) -> None:
        # In memory: every intent waits for the disk.
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
        self.config = JournalConfig(path=str(self.folder / "journal.sqlite"))
        self.cluster = Watched()
        self.backend = RecordedBackend(self.cluster)
        self.jobs = [self.cluster.submit(gpus=2, run=120.0) for _ in range(4)]
        self._open()

    def teardown(self) -> None:
        self.journal.close()
        shutil.rmtree(self.folder)

    def _open(self) -> None:
        self.journal = Journal.open(self.config)
        self.ledger = Ledger(self.journal)
        clocks = Clocks(lambda: self.cluster.now, lambda: self.cluster.now)
        self.actuator = Actuator(self.backend, self.ledger, clocks)

    def _changes(self, wishes: dict[tuple[int, Knob], int]) -> list[Change]:
        factors = self.cluster.factors()
        return [
            Change(job, str(job), knob, factors[job].own if knob is Knob.PRIORITY else 0, value, "")
            for (number, knob), value in wishes.items()
            if (job := self.jobs[number]) in factors
        ]

    @contextmanager
    def _full_disk(self, full: bool) -> Iterator[None]:
        """A disk on which not one more page can be written."""
        if full:
            self.journal.connection.execute("PRAGMA query_only = ON")
        with suppress(JournalError):
            yield
        self.journal.connection.execute("PRAGMA query_only = OFF")

    # -- the daemon

    @rule(wishes=WISHES, fault=FAULTS, full=st.booleans())
    def send(self, wishes: dict[tuple[int, Knob], int], fault: Fault, full: bool) -> None:
        self.backend.faults.append(fault)
        with self._full_disk(full):
            self.actuator.send(self._changes(wishes))
        self.backend.faults.clear()

    @rule(wishes=WISHES, fault=FAULTS, sent=st.booleans())
    def die_in_the_middle(
        self, wishes: dict[tuple[int, Knob], int], fault: Fault, sent: bool
    ) -> None:
        changes = self._changes(wishes)
        self.ledger.intend(changes, self.cluster.now)
        if sent:
            self.backend.faults.append(fault)
            with suppress(BackendError):
                self.backend.apply(changes)
            self.backend.faults.clear()
        self.restart()

    @rule()
    def restart(self) -> None:
        self.journal.close()
        self._open()

    @rule(fault=FAULTS, full=st.booleans())
    def put_back(self, fault: Fault, full: bool) -> None:
        self.backend.faults.append(fault)
        with self._full_disk(full), suppress(BackendError):
            self.actuator.put_back(self.backend.read())
        self.backend.faults.clear()

    @rule()
    def note_what_is_gone(self) -> None:
        there = self.backend.read().by_id
        gone = {key.job for key in self.ledger.view.entries if key.job not in there}
        self.ledger.let_go(gone, self.cluster.now, "the job is gone")

    # -- everybody else

    @rule()
    def late_messages_arrive(self) -> None:
        self.backend.deliver()

    @rule(seconds=st.sampled_from([1.0, 60.0, 400.0]))
    def time_passes(self, seconds: float) -> None:
        self.cluster.advance(seconds)

    @precondition(lambda self: self.cluster.factors())
    @rule(data=st.data(), value=st.sampled_from([0, 5, 1234]))
    def an_operator_sets_a_factor(self, data: st.DataObject, value: int) -> None:
        job = data.draw(st.sampled_from(sorted(self.cluster.factors())))
        self.cluster.set_site(job, value)
        self.cluster.ours.pop(Key(job, Knob.SITE_FACTOR), None)

    @precondition(lambda self: self.cluster.snapshot().running)
    @rule(data=st.data())
    def a_job_is_requeued(self, data: st.DataObject) -> None:
        running = [job.id for job in self.cluster.snapshot().running]
        self.cluster.requeue(data.draw(st.sampled_from(running)))

    @rule(number=st.integers(0, 3))
    def a_job_is_held_and_let_go(self, number: int) -> None:
        self.cluster.hold(self.jobs[number])
        self.cluster.release(self.jobs[number])

    @rule(number=st.integers(0, 3))
    def a_new_job_comes(self, number: int) -> None:
        self.jobs[number] = self.cluster.submit(gpus=2, run=120.0)

    # -- what holds

    @invariant()
    def every_job_with_a_value_of_ours_is_known(self) -> None:
        self.ledger.look(self.cluster.snapshot())
        assert self.cluster.carrying() <= self.ledger.view.entries.keys()

    @invariant()
    def the_file_says_what_memory_says(self) -> None:
        written = {key: entry for key, entry in self.ledger.view.entries.items() if entry.opening}
        read = Ledger(self.journal).view.entries
        assert written.keys() == read.keys()
        for key, entry in written.items():
            assert entry.asked >= read[key].asked  # older ones are found in the history
            assert (entry.before, entry.opening) == (read[key].before, read[key].opening)

    @invariant()
    def restoring_once_slurm_answers_leaves_nothing(self) -> None:
        """On a copy of the queue's values, so that the story goes on."""
        cluster = self.cluster
        values = dict(cluster.site), dict(cluster.frozen), dict(cluster.ours)
        for _ in range(2):  # a factor that a frozen priority hides shows once it is released
            self.ledger.look(cluster.snapshot())
            entries = self.ledger.view.entries.values()
            restore(self.backend, entries, cluster.snapshot(), self.backend.apply)
        left = self.cluster.carrying()
        cluster.site, cluster.frozen, cluster.ours = values
        assert left == set()


TestSteering = Steering.TestCase
TestSteering.settings = settings(
    max_examples=40,
    stateful_step_count=20,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # to shrink a story takes minutes
    suppress_health_check=list(HealthCheck),
)
