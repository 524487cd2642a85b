"""Runs the site's own command for an alert: its words, then the kind, then a sentence; no shell.

The daemon waits for nothing here: a command that hangs is ended by its time limit, and while one
runs no other is started.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from dovetail.files import Untrusted, check_file
from dovetail.live.alerts.alert import Alert, AlertKind
from dovetail.live.config import AlertConfig

LOG = logging.getLogger("dovetail.live")
LONGEST = 1000
"""Characters of a sentence: it may hold names of strangers."""


class AlertCommand:
    """One alert of a kind in `every` seconds; while another is told, it waits its turn."""

    def __init__(self, config: AlertConfig, steady: Callable[[], float] = time.monotonic) -> None:
        self.config, self._steady = config, steady
        self._told: dict[AlertKind, float] = {}
        self._waiting: dict[AlertKind, Alert] = {}
        self._child: subprocess.Popen[bytes] | None = None
        self._began = 0.0

    def tell(self, alerts: Iterable[Alert]) -> None:
        """Take alerts up, and see to the command that runs; to be called once in a cycle."""
        if not self.config.command:
            return
        now = self._steady()
        for alert in alerts:
            if now - self._told.get(alert.kind, -self.config.every) >= self.config.every:
                self._told[alert.kind] = now
                self._waiting[alert.kind] = alert
        self._reap(now)
        if self._child is None and self._waiting:
            self._start(self._waiting.pop(next(iter(self._waiting))), now)

    def close(self) -> None:
        """Give a command that runs its time, once and for all."""
        if self._child is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(self.config.timeout)
            self._reap(self._began + self.config.timeout + 1.0)

    def _start(self, alert: Alert, now: float) -> None:
        argv = [*self.config.command, alert.kind.value, _plain(alert.sentence)]
        try:
            check_file(Path(argv[0]))
            self._child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"},
                start_new_session=True,
            )
            self._began = now
        except (OSError, Untrusted) as problem:
            LOG.warning("alert %s not told: %s; see alerts.command", alert.kind.value, problem)

    def _reap(self, now: float) -> None:
        child = self._child
        if child is None:
            return
        code = child.poll()
        if code is None and now - self._began > self.config.timeout:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            code = child.wait()
            LOG.warning("alerts.command took longer than %g s and was ended", self.config.timeout)
        elif code:
            LOG.warning("alerts.command ended with %d: was the alert told?", code)
        if code is not None:
            self._child = None


def _plain(sentence: str) -> str:
    """One line, printable, and no word that a program would take for an option."""
    text = "".join(letter if letter.isprintable() else "?" for letter in sentence)[:LONGEST]
    return f" {text}" if text.startswith("-") else text
