"""A live Slurm through its own programs: what every cluster has, and the only way to all knobs.

backend = CommandsBackend(config.slurm)
snapshot = backend.read()
results = backend.apply(changes)
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dovetail.domain.decision import Change, Knob, Result
from dovetail.domain.snapshot import (
    Factor,
    LiveJob,
    LivePartition,
    Reservation,
    Share,
    Snapshot,
)
from dovetail.live.backends.arrays import doubtful, joined, without_split
from dovetail.live.backends.base import BackendError, Unreachable
from dovetail.live.backends.changes import apply_changes
from dovetail.live.backends.job_rows import JobRows
from dovetail.live.backends.priorities import SPRIO, SSHARE, factors_of, shares_of
from dovetail.live.backends.process import Commands
from dovetail.live.backends.requests import hosts_of
from dovetail.live.backends.show import nodes_of, partitions_of, reservations_of, settings_of
from dovetail.live.config import SlurmConfig

REFRESH = 10
"""Readings after which partitions and shares, which hardly change, are asked for again."""
MANY = 10_000
"""Job ids in one argument: Linux allows 128 KB."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What changes rarely."""

    partitions: tuple[LivePartition, ...]
    reservations: tuple[Reservation, ...]
    shares: tuple[Share, ...]


class CommandsBackend:
    """squeue, sinfo, sprio and sshare to read, scontrol to change."""

    name = "commands"

    def __init__(self, config: SlurmConfig) -> None:
        self.commands = Commands(config)
        self._rows = JobRows()
        self._failed = False
        self._readings = 0
        self._surroundings: Surroundings | None = None
        self._avoids: dict[int, tuple[str, ...]] = {}
        self._shown: dict[int, tuple[int, ...]] = {}
        self._exact: dict[int, set[int]] = {}

    def read(self) -> Snapshot:
        if self._failed:
            self.ping()
        self._failed = True
        snapshot = self._read()
        self._failed = False
        return snapshot

    def _read(self) -> Snapshot:
        due = self._readings % REFRESH == 0 or self._surroundings is None
        now = time.time()
        tasks, doubts = self._tasks()
        jobs = self._with_avoids(joined(tasks, self._exact_tasks(tasks)), due)
        nodes = nodes_of(self.commands.ask("scontrol", "-a", "-d", "-o", "show", "node"))
        if due:
            self._surroundings = self.surroundings()
        assert self._surroundings is not None
        self._readings += 1
        around = self._surroundings
        return Snapshot(
            now,
            tuple(jobs),
            nodes,
            around.partitions,
            around.reservations,
            around.shares,
            self.factors(),
            tuple(doubts),
        )

    def _tasks(self) -> tuple[list[LiveJob], list[str]]:
        token, words = self._rows.question()
        text = self.commands.ask("squeue", *words)
        if not text.strip():
            # An empty queue and a lost controller look alike.
            self.ping()
        return self._rows.parse(text, token)

    def _exact_tasks(self, jobs: list[LiveJob]) -> Mapping[int, set[int]]:
        """The tasks of arrays of which `squeue -r` may have lost one; asked again when changed."""
        shown = doubtful(jobs)
        if shown != self._shown:
            ids = ",".join(map(str, list(shown)[:MANY]))
            told = self.commands.ask("squeue", "-h", "-a", "-t", "PD", "-j", ids, "-o", "%A %K")
            pairs = (line.split(" ", 1) for line in told.splitlines())
            lists = {int(number): tasks for number, tasks in pairs if tasks != "N/A"}
            self._exact, self._shown = without_split(lists, jobs), shown
        return self._exact

    def _with_avoids(self, jobs: list[LiveJob], due: bool) -> list[LiveJob]:
        """-O has no field for the nodes that a job excludes; -o has, and lacks others."""
        waiting = {job.id for job in jobs if job.pending}
        if due or not waiting <= self._avoids.keys():
            text = self.commands.ask("squeue", "-h", "-a", "-r", "-t", "PD", "-o", "%A %x")
            pairs = (line.split(" ", 1) for line in text.splitlines())
            self._avoids = dict.fromkeys(waiting, ())
            self._avoids |= {int(number): hosts_of(hosts) for number, hosts in pairs}
        avoids = self._avoids
        return [
            job._replace(avoids=avoids[job.id]) if job.id in waiting and avoids[job.id] else job
            for job in jobs
        ]

    def surroundings(self) -> Surroundings:
        ask = self.commands.ask
        return Surroundings(
            partitions_of(ask("scontrol", "-a", "-o", "show", "partition")),
            reservations_of(ask("scontrol", "-a", "-o", "show", "reservation")),
            self._shares(),
        )

    def _shares(self) -> tuple[Share, ...]:
        """None where Slurm keeps no accounts."""
        try:
            return shares_of(self.commands.ask("sshare", *SSHARE))
        except BackendError:
            self.ping()
            return ()

    def factors(self) -> Mapping[int, Factor]:
        return factors_of(self.commands.ask("sprio", *SPRIO))

    def settings(self) -> Mapping[str, str]:
        return settings_of(self.commands.ask("scontrol", "show", "config"))

    def apply(self, changes: Sequence[Change]) -> list[Result]:
        if any(change.knob is Knob.AVOID for change in changes):
            self._avoids = {}
        return apply_changes(self.commands, changes)

    def ping(self) -> None:
        """Whether a controller answers: 8 ms, where other questions hang for 9 s."""
        answer = self.commands.run("scontrol", "ping")
        text = answer.output.decode("utf-8", "replace")
        if " is UP" not in text:
            said = " ".join(text.split())[:200] or answer.words
            raise Unreachable(f"slurmctld does not answer: {said}")
