"""Ctrl-C that is not lost where Python throws exceptions away."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

AGAIN = 0.05
"""Seconds until the signal comes again."""


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, and a little later while an object is being deleted.

    Python ignores what is raised in `__del__`, and compiled modules have one that runs often.
    """
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            later = threading.Timer(AGAIN, os.kill, (os.getpid(), number))
            later.daemon = True
            later.start()
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def listen() -> None:
    """Let Ctrl-C and SIGTERM interrupt: a batch system ends a job by SIGTERM.

    Jobs in a shell's background ignore SIGINT, and go on ignoring it.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
