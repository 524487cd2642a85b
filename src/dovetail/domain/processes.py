"""Worker processes that leave Ctrl-C to their parent, from their first moment on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


def submit(pool: ProcessPoolExecutor, work: Callable[..., T], *given: Any) -> Future[T]:
    """Hand over a task; a worker that is started for it never sees SIGINT.

    A pool starts workers when tasks are handed over. An interrupt in the middle of that would
    leave a worker with half of what it is sent: it would print an UnpicklingError, and others,
    still importing, a KeyboardInterrupt each. The signal waits until the worker is there.
    """
    with interrupts_held():
        return pool.submit(work, *given)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """SIGINT waits until the end of the block; processes started in it are never told of it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are Python's main thread's business
        return
    caught: list[int] = []
    # New processes inherit the mask. It is this thread's alone: a signal that another thread takes
    # would still be handled here, and so the handler only makes a note of it.
    handler = signal.signal(signal.SIGINT, lambda number, frame: caught.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, signal.SIG_DFL if handler is None else handler)
        if caught:
            signal.raise_signal(signal.SIGINT)
