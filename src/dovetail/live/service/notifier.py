"""Tells systemd how the daemon is: ready, alive, busy with what, stopping.

>>> notifier = Notifier.from_environment({"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "300000000"})
>>> notifier.watchdog
300.0
>>> Notifier().alive("nobody listens, and so nothing is sent")
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notifier:
    """Where systemd listens; an empty address: nobody does, and nothing is sent."""

    address: str = ""
    watchdog: float = 0.0  # seconds without a sign of life until systemd restarts us; 0: never

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Notifier:
        micros = environment.get("WATCHDOG_USEC", "")
        mine = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        watchdog = int(micros) / 1e6 if micros.isdecimal() and mine else 0.0
        return cls(environment.get("NOTIFY_SOCKET", ""), watchdog)

    def ready(self, status: str) -> None:
        self._send(f"READY=1\nSTATUS={_line(status)}")

    def alive(self, status: str) -> None:
        self._send(f"WATCHDOG=1\nSTATUS={_line(status)}")

    def stopping(self, status: str) -> None:
        self._send(f"STOPPING=1\nSTATUS={_line(status)}")

    def _send(self, message: str) -> None:
        if not self.address.startswith(("/", "@")):
            return
        address = f"\0{self.address[1:]}" if self.address[0] == "@" else self.address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
                channel.setblocking(False)
                channel.sendto(message.encode(errors="replace"), address)
        except OSError:
            pass  # systemd is away or busy; the daemon's work does not depend on it


def _line(text: str) -> str:
    """A line end in a status would be a further assignment."""
    return " ".join(text.split())
