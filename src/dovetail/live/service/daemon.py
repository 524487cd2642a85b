"""The loop around the controller: time, signals, switches, and coming back after a crash.

SIGHUP reads the configuration again. What a daemon before left behind in the queue is put back
before anything new is decided.
"""

from __future__ import annotations

import gc
import logging
import math
import select
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from dovetail.domain.errors import DovetailError
from dovetail.live.alerts import AlertCommand, alerts_of
from dovetail.live.backends import BACKENDS
from dovetail.live.backends.base import Backend
from dovetail.live.config import LiveConfig, load_config
from dovetail.live.cycle.actuator import Clocks
from dovetail.live.cycle.controller import LiveController
from dovetail.live.cycle.policy import check_beside_slurm, check_policy
from dovetail.live.cycle.report import CycleReport
from dovetail.live.journal import Journal
from dovetail.live.ledger.unmarked import UnmarkedFactors
from dovetail.live.model.mode import Mode
from dovetail.live.service.first_factors import (
    FirstFactor,
    remove_first_factors,
    typical_factors,
    write_first_factors,
)
from dovetail.live.service.metrics.endpoint import Metrics
from dovetail.live.service.notifier import Notifier
from dovetail.live.service.signals import Signals
from dovetail.live.service.status import status_of
from dovetail.live.service.switchboard import Switchboard
from dovetail.live.service.telemetry_watch import TelemetryWatch
from dovetail.live.twin.watch import TwinWatch

LOG = logging.getLogger("dovetail.live")

FIXED = ("run_dir", "slurm", "journal", "metrics", "alerts", "telemetry")
"""Parts of the configuration that are opened once."""
LOOK = 1.0
"""Seconds between two looks at the kill switch and at the mode that is asked for."""
LEAST_HOLD = 180.0
"""Seconds for which new jobs get first factors after the daemon's last cycle, or three periods."""
PATIENCE, PAUSE = 5, 2.0
"""How often the daemon tries to put jobs back before it ends, and the seconds between two tries.

Slurm restarts within seconds, and while it is down a try takes none.
"""


@dataclass(frozen=True, slots=True)
class DaemonParts:
    """What the loop works with."""

    controller: LiveController
    board: Switchboard
    metrics: Metrics
    notifier: Notifier
    watch: TwinWatch
    signals: Signals
    alarm: AlertCommand
    telemetry: TelemetryWatch


class Daemon:
    """One per cluster: the journal's lock sees to it."""

    def __init__(
        self,
        config: LiveConfig,
        path: Path | None = None,
        backend: Backend | None = None,
        clocks: Clocks | None = None,
        metrics: Metrics | None = None,
        pause: Callable[[], None] | None = None,
    ) -> None:
        """By default on the Slurm that the configuration names, with this machine's clocks.

        pause: how time passes between two cycles; by default it is waited for.
        """
        self.config, self.path = config, path
        self._backend, self._clocks, self._metrics = backend, clocks, metrics
        self._pause = pause
        self._first: tuple[FirstFactor, ...] | None = None  # what new jobs get; None: not known
        self._first_written = -math.inf  # steady
        self._asked: Mode | None = None  # the mode that was asked for when we last looked

    def run(self, cycles: int | None = None) -> None:
        """Go on until told to stop, or for so many cycles."""
        # A cycle on 10,000 jobs makes 100,000 objects, which set the collector off several times in
        # the middle of it, at 10 to 20 ms each.
        gc.disable()
        with ExitStack() as stack:
            stack.callback(gc.enable)
            parts = self._open(stack)
            LOG.info(
                "started: %s, %s mode asked for", self.config.policy, self._wanted(parts).value
            )
            parts.notifier.ready(f"started with {self.config.policy}")
            gc.freeze()  # what is there stays: to look through it after each cycle took 0.05 s
            self._loop(parts, cycles)
            with suppress(OSError):
                remove_first_factors(Path(self.config.run_dir))
            parts.notifier.stopping("putting jobs back")
            _end(parts)

    def _open(self, stack: ExitStack) -> DaemonParts:
        check_policy(self.config.policy)
        signals = stack.enter_context(Signals())
        board = Switchboard(Path(self.config.run_dir))
        board.open()
        stack.callback(board.close)
        journal = stack.enter_context(Journal.open(self.config.journal))
        telemetry = stack.enter_context(TelemetryWatch(self.config.telemetry))
        metrics = stack.enter_context(self._metrics or Metrics(self.config.metrics))
        metrics.also(telemetry.families)
        backend = self._backend or BACKENDS[self.config.slurm.backend](self.config.slurm)
        check_beside_slurm(self.config.policy, self.config.act, backend.settings)
        controller = LiveController(
            self.config,
            backend,
            journal,
            clocks=self._clocks,
            stopped=lambda: board.stopped,
            unmarked=UnmarkedFactors(board.folder),
            readings=lambda: telemetry.nodes,
        )
        notifier = Notifier.from_environment()
        alarm = AlertCommand(self.config.alerts)
        stack.callback(alarm.close)
        watch = TwinWatch(controller)
        return DaemonParts(controller, board, metrics, notifier, watch, signals, alarm, telemetry)

    def _loop(self, parts: DaemonParts, cycles: int | None) -> None:
        done = 0
        while not self._told_to_stop(parts):
            began = parts.controller.clocks.steady()
            self._cycle(parts)
            done += 1
            if cycles is not None and done >= cycles:
                return
            self._sleep(parts, began)

    def _cycle(self, parts: DaemonParts) -> None:
        controller = parts.controller
        self._switch(parts)
        report = controller.cycle()
        LOG.log(_level_of(report), "%s", report.sentence)
        if report.fell_back:
            # It fell back by itself: only an operator switches it on again.
            _remember_shadow(parts.board)
            self._asked = parts.board.asked_mode()
        self._tell_submit_script(controller)
        parts.metrics.observe(report)
        parts.alarm.tell(alerts_of(report))
        if controller.snapshot:
            parts.telemetry.look(controller.snapshot.running)
        parts.board.tell(status_of(report, controller, parts.telemetry.sentences))
        parts.notifier.alive(report.sentence)
        parts.watch.look()

    def _tell_submit_script(self, controller: LiveController) -> None:
        """What new jobs get first; nothing unless we act."""
        folder = Path(self.config.run_dir)
        rows: tuple[FirstFactor, ...] = ()
        if controller.mode is Mode.ACTIVE and controller.plan and controller.snapshot:
            rows = typical_factors(controller.snapshot, controller.plan)
        holds = max(LEAST_HOLD, 3 * self.config.period)
        steady = controller.clocks.steady()
        if rows == self._first and (not rows or steady - self._first_written < holds / 3):
            return
        try:
            if rows:
                write_first_factors(folder, rows, holds)
            else:
                remove_first_factors(folder)
            self._first, self._first_written = rows, steady
        except (OSError, DovetailError) as error:
            LOG.warning("first factors not written: %s", error)

    def _wanted(self, parts: DaemonParts) -> Mode:
        return parts.board.asked_mode() or self.config.mode

    def _switch(self, parts: DaemonParts) -> None:
        """Take up the mode that is asked for; the kill switch and old debts come first."""
        controller = parts.controller
        self._asked = parts.board.asked_mode()
        if parts.board.stopped:
            if controller.mode is Mode.ACTIVE:
                LOG.warning("%s", controller.leave(parts.board.lost or "the kill switch is on"))
            _remember_shadow(parts.board)
            self._asked = parts.board.asked_mode()
        if controller.owes:
            LOG.warning("found jobs that were touched: %s", controller.settle())
        if controller.owes:
            return  # not active again before the past is settled
        wanted = self._wanted(parts)
        if wanted is Mode.ACTIVE and controller.mode is not Mode.ACTIVE:
            parts.watch.rehearse()
        said = controller.enter(wanted, "asked for")
        if said:
            LOG.info("%s", said)

    def _sleep(self, parts: DaemonParts, began: float) -> None:
        """Until the next cycle is due or somebody calls, but no sooner than the least pause."""
        gc.collect()  # now, when nobody waits for us; see `run`
        if self._pause is not None:
            self._pause()
            return
        steady, woken = parts.controller.clocks.steady, False
        while not (parts.signals or self._called(parts)):
            due = self.config.min_period if woken else self.config.period
            rest = min(due - (steady() - began), LOOK)
            if rest <= 0:
                return
            if woken:
                # Not sigtimedwait: a clock that is made to run faster does not reach it.
                select.select([parts.signals.descriptor], [], [], rest)
            else:
                woken = parts.board.wait(rest, parts.signals.descriptor)

    def _called(self, parts: DaemonParts) -> bool:
        """Whether an operator wants something that does not wait for the next cycle."""
        if parts.board.stopped:
            return parts.controller.mode is Mode.ACTIVE
        return parts.board.asked_mode() is not self._asked

    def _told_to_stop(self, parts: DaemonParts) -> bool:
        heard = parts.signals.taken()
        if signal.SIGHUP in heard:
            self._reload(parts.controller)
        return signal.SIGTERM in heard or signal.SIGINT in heard

    def _reload(self, controller: LiveController) -> None:
        """A configuration that cannot be read leaves the one that is in use."""
        if self.path is None:
            return
        try:
            config = load_config(self.path)
            check_policy(config.policy)
            check_beside_slurm(config.policy, config.act, controller.backend.settings)
        except DovetailError as error:
            LOG.error("configuration not taken: %s", error)
            return
        fixed = [name for name in FIXED if getattr(config, name) != getattr(self.config, name)]
        if fixed:
            LOG.warning("only a restart changes %s", ", ".join(fixed))
        controller.take(config)
        self.config = config
        LOG.info("configuration read again from %s", self.path)


def _level_of(report: CycleReport) -> int:
    if report.fell_back:
        return logging.ERROR
    return logging.WARNING if report.trouble else logging.INFO


def _remember_shadow(board: Switchboard) -> None:
    """A daemon that is restarted must not be active again by itself."""
    if board.asked_mode() is not Mode.SHADOW:
        with suppress(DovetailError):
            board.ask_for(Mode.SHADOW, "dovetail")


def _end(parts: DaemonParts) -> None:
    """Out of active mode before the process ends."""
    controller = parts.controller
    if controller.mode is Mode.ACTIVE:
        LOG.info("%s", controller.leave("the daemon ends"))
    for _ in range(PATIENCE):
        if not controller.owes:
            return
        parts.board.wait(PAUSE)
        LOG.warning("%s", controller.settle())
    if controller.owes:
        LOG.error("jobs are left with our factors: run `dovetail live restore` once Slurm answers")
