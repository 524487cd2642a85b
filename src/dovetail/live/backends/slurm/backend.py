"""A live Slurm: one of three ways to read jobs and nodes, its own programs for all the rest."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from dovetail.domain.associations import Association
from dovetail.domain.errors import ClusterError
from dovetail.live.backends.base import BackendError, Unreachable, Unreadable
from dovetail.live.backends.slurm.job_rows import Told
from dovetail.live.backends.slurm.priorities import (
    SPRIO,
    SSHARE,
    associations_of,
    factors_of,
    shares_of,
)
from dovetail.live.backends.slurm.process import Commands
from dovetail.live.backends.slurm.scontrol import apply_changes
from dovetail.live.backends.slurm.show import (
    billing_of_partitions,
    partitions_of,
    reservations_of,
)
from dovetail.live.model.decision import Change, Result
from dovetail.live.model.site import SiteSettings
from dovetail.live.model.snapshot import (
    Factor,
    LiveJob,
    LiveNode,
    LivePartition,
    LiveReservation,
    Share,
    Snapshot,
)
from dovetail.slurm.show import settings_of
from dovetail.slurm.tables import rows_of


@contextmanager
def in_known_shape() -> Iterator[None]:
    """Whatever a parser stumbles over is an answer that cannot be trusted."""
    try:
        yield
    except (
        ValueError, ArithmeticError, LookupError, TypeError, AttributeError, ClusterError,
    ) as error:  # fmt: skip
        raise Unreadable(f"Slurm's answer has a shape that is not known: {error!r:.200}") from error


REFRESH = 10
"""Readings after which partitions and shares, which hardly change, are asked for again."""


class Reader(Protocol):
    """Jobs and nodes, however they are asked for."""

    def jobs(self, told: Told = dict) -> tuple[list[LiveJob], list[str]]:
        """All jobs that the controller remembers, and a sentence for each it cannot read.

        told: asks of which jobs sprio tells the priority; these may have an older one here.
        """
        ...

    def nodes(self) -> tuple[LiveNode, ...]: ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What changes rarely."""

    partitions: tuple[LivePartition, ...]
    reservations: tuple[LiveReservation, ...]
    shares: tuple[Share, ...]
    qos: tuple[str, ...]


class SlurmBackend:
    """Jobs and nodes from a reader; sprio, sshare and scontrol for the rest and for changes."""

    def __init__(self, name: str, commands: Commands, reader: Reader) -> None:
        self.name = name
        self._commands = commands
        self._reader = reader
        self._failed = False
        self._readings = 0
        self._surroundings: Surroundings | None = None

    def read(self) -> Snapshot:
        if self._failed:
            self._ping()
        self._failed = True
        with in_known_shape():
            snapshot = self._read()
        self._failed = False
        return snapshot

    def _read(self) -> Snapshot:
        now = time.time()
        factors = cache(self.factors)  # asked by the reader, or below
        jobs, doubts = self._reader.jobs(factors)
        if not jobs:
            # An empty queue and a lost controller look alike.
            self._ping()
        nodes = self._reader.nodes()
        if not nodes:
            raise Unreadable("Slurm shows no node at all; see `scontrol show nodes`")
        if self._surroundings is None or self._readings % REFRESH == 0:
            self._surroundings = self._look_around()
        self._readings += 1
        around = self._surroundings
        return Snapshot(
            now,
            tuple(jobs),
            nodes,
            around.partitions,
            around.reservations,
            around.shares,
            factors(),
            around.qos,
            tuple(doubts),
        )

    def _look_around(self) -> Surroundings:
        ask = self._commands.ask
        partitions = partitions_of(ask("scontrol", "-a", "-o", "show", "partition"))
        if not partitions:
            raise Unreadable("Slurm shows no partition at all; see `scontrol show partitions`")
        return Surroundings(
            partitions,
            reservations_of(ask("scontrol", "-a", "-o", "show", "reservation")),
            self._shares(),
            self._qos(),
        )

    def _shares(self) -> tuple[Share, ...]:
        """None where Slurm keeps no accounts."""
        try:
            return shares_of(self._commands.ask("sshare", *SSHARE))
        except Unreachable:
            self._ping()
            return ()

    def _qos(self) -> tuple[str, ...]:
        """Names of all QOS; none where there is no accounting, or it does not answer.

        Slurm schedules on without its accounting, and so do we.
        """
        text = self._accounting("show", "qos", "format=Name")
        return tuple(name.strip() for (name,) in rows_of(text, 1) if name.strip())

    def _accounting(self, *words: str) -> str:
        """What sacctmgr prints; empty where it has nothing to say."""
        try:
            answer = self._commands.run("sacctmgr", "-n", "-P", *words)
        except BackendError:
            return ""
        return answer.output.decode("utf-8", "replace") if answer.code == 0 else ""

    def factors(self) -> Mapping[int, Factor]:
        """None where Slurm orders jobs by arrival alone (priority/basic)."""
        try:
            with in_known_shape():
                return factors_of(self._commands.ask("sprio", *SPRIO))
        except Unreachable as error:
            if "not running a supported priority plugin" in str(error):
                return {}
            raise

    def settings(self) -> Mapping[str, str]:
        return settings_of(self._commands.ask("scontrol", "show", "config"))

    def site(self) -> SiteSettings:
        ask = self._commands.ask
        settings = self.settings()
        with in_known_shape():
            return SiteSettings(
                settings,
                self._associations(),
                self._qos_priorities(),
                billing_of_partitions(ask("scontrol", "-a", "-o", "show", "partition")),
            )

    def _associations(self) -> tuple[Association, ...]:
        """None where Slurm keeps no accounts."""
        try:
            return associations_of(self._commands.ask("sshare", *SSHARE))
        except Unreachable:
            return ()

    def _qos_priorities(self) -> dict[str, float]:
        rows = rows_of(self._accounting("show", "qos", "format=Name,Priority"), 2)
        return {name: float(value) for name, value in rows if value.isdecimal()}

    def apply(self, changes: Sequence[Change]) -> list[Result]:
        return apply_changes(self._commands, changes)

    def _ping(self) -> None:
        """Whether a controller answers: 8 ms, where other questions hang for 9 s."""
        answer = self._commands.run("scontrol", "ping")
        text = answer.output.decode("utf-8", "replace")
        if " is UP" not in text:
            said = (
                " ".join(text.partition("*")[0].split())[:200] or answer.words
            )  # a banner follows
            raise Unreachable(f"slurmctld does not answer: {said}")
