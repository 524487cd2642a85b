"""Readings of GPUs beside the cycles, in a thread of its own: a source that hangs holds up nothing.

>>> with TelemetryWatch(TelemetryConfig(source="prometheus:http://127.0.0.1:9")) as watch:
...     watch.look(())  # once a cycle, with the jobs that run
...     watch.nodes.get("n1")  # what is known of a node joins the next snapshot
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import NamedTuple

from prometheus_client.core import Metric

from dovetail.live.config import TelemetryConfig
from dovetail.telemetry.holdings import RunningJob
from dovetail.telemetry.idle import IdleRule
from dovetail.telemetry.monitor import Monitor, NodeReading
from dovetail.telemetry.sources import Source, open_source

LOG = logging.getLogger("dovetail.live")

SHOWN = 10
"""Jobs with idle GPUs that are told in words, those that cost most first."""
PATIENCE = 1.0
"""Seconds for which the end waits for a reading; after them it is left behind."""


class _Told(NamedTuple):
    """What one reading gave: other threads see all of it or nothing."""

    nodes: Mapping[str, NodeReading]
    sentences: tuple[str, ...]
    families: tuple[Metric, ...]


NOTHING_TOLD = _Told({}, (), ())


class TelemetryWatch:
    """Reads at most every `config.every` seconds, and only when a cycle asks for it."""

    def __init__(
        self,
        config: TelemetryConfig,
        source: Source | None = None,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.config, self._steady = config, steady
        self._told = NOTHING_TOLD
        self._running: Sequence[RunningJob] = ()
        self._due, self._ending = threading.Event(), threading.Event()
        self._last = -config.every
        self._thread: threading.Thread | None = None
        if source is None and config.source:
            source = open_source(config.source)
        if source is not None:
            rule = IdleRule(below=config.idle_below, after=60.0 * config.idle_minutes)
            monitor = Monitor(source, rule)
            self._thread = threading.Thread(
                target=self._read, args=(monitor,), name="telemetry", daemon=True
            )

    @property
    def nodes(self) -> Mapping[str, NodeReading]:
        """By the node's name; empty: nothing is known."""
        return self._told.nodes

    @property
    def sentences(self) -> Sequence[str]:
        return self._told.sentences

    def families(self) -> Iterable[Metric]:
        """For Prometheus; nothing before the first reading."""
        return self._told.families

    def look(self, running: Sequence[RunningJob]) -> None:
        """The jobs that run now; a reading follows if the last one is old enough."""
        self._running = running
        if self._steady() - self._last >= self.config.every:
            self._last = self._steady()
            self._due.set()

    def _read(self, monitor: Monitor) -> None:
        while True:
            self._due.wait()
            if self._ending.is_set():
                return
            self._due.clear()
            try:
                monitor.update(self._running)
            except Exception:  # telemetry must never stop who asked
                LOG.exception("a reading of GPUs failed")
                continue
            now = monitor.checked.readings.time if monitor.checked else 0.0
            costly = sorted(monitor.idle, key=lambda holding: -holding.hours)[:SHOWN]
            self._told = _Told(
                monitor.nodes,
                tuple(holding.sentence(now) for holding in costly),
                tuple(monitor.families()),
            )

    def __enter__(self) -> TelemetryWatch:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.set()
        self._due.set()
        if self._thread is not None:
            self._thread.join(PATIENCE)
