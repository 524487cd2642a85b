"""Signals are noted and wake the loop through a pipe; nothing happens inside a handler.

>>> import signal
>>> with Signals() as signals:
...     signal.raise_signal(signal.SIGHUP)
...     signal.SIGHUP in signals.taken()
True
"""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Any, Self

WATCHED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Signals:
    """Listens within its block; afterwards every handler is what it was."""

    def __init__(self) -> None:
        self._heard: list[int] = []
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self.descriptor, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._before = {number: signal.getsignal(number) for number in WATCHED}
        self._waker = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in WATCHED:
            signal.signal(number, self._note)
        return self

    def __exit__(self, *why: object) -> None:
        signal.set_wakeup_fd(self._waker)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self.descriptor)
        os.close(self._write)

    def __bool__(self) -> bool:
        """Whether one has come that nobody has taken yet."""
        return bool(self._heard)

    def taken(self) -> frozenset[int]:
        """Those that came since the last call."""
        heard, self._heard = self._heard, []
        return frozenset(heard)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._heard.append(number)
