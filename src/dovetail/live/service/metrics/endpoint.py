"""The Prometheus endpoint: what the daemon sees and does, for dashboards and alarms.

>>> from dovetail.live.model.mode import Mode
>>> with Metrics(MetricsConfig(port=0)) as metrics:  # 0: nothing is served
...     metrics.observe(CycleReport(Mode.SHADOW, "all is well"))
...     {family.name: len(family.samples) for family in metrics.collect()}["dovetail_mode"]
3
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable
from types import TracebackType

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from dovetail.domain.errors import ConfigError
from dovetail.live.config import MetricsConfig
from dovetail.live.cycle.report import CycleReport
from dovetail.live.service.metrics.families import families
from dovetail.live.service.metrics.server import MetricsServer, is_loopback
from dovetail.live.service.metrics.totals import Totals

log = logging.getLogger(__name__)


RETRY = 60.0
"""Seconds between two tries to listen on a port that another program has."""


class Metrics(Collector):
    """Keeps the last report and the totals, and serves them once started.

    The cycle's thread replaces immutable values, the scraping thread reads them: neither waits.
    """

    def __init__(self, config: MetricsConfig) -> None:
        self.config = config
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)
        self._told: tuple[Totals, CycleReport | None] = (Totals(), None)
        self._fresh = math.nan  # steady time of the last good snapshot
        self._server: MetricsServer | None = None
        self._tried: float | None = None  # steady time of the last try that failed
        self._more: Callable[[], Iterable[Metric]] = tuple

    def observe(self, report: CycleReport) -> None:
        """Take in what one cycle did."""
        self._told = (self._told[0].after(report), report)
        if self._tried is not None and time.monotonic() - self._tried >= RETRY:
            self._tried = None
            self.start()
        self.stale(report.snapshot_age)

    def stale(self, seconds: float) -> None:
        """The last good snapshot is so old now; from here on its age grows by itself.

        So a daemon that hangs shows, too.
        """
        self._fresh = time.monotonic() - seconds

    def collect(self) -> Iterable[Metric]:
        """For the registry: everything as it is now."""
        totals, last = self._told
        yield from families(totals, last, time.monotonic() - self._fresh)
        yield from self._more()

    def also(self, more: Callable[[], Iterable[Metric]]) -> None:
        """Serve these families, too."""
        self._more = more

    def start(self) -> None:
        """Serve, unless the port is 0."""
        if self.config.port == 0 or self._server is not None:
            return
        if not is_loopback(self.config.host):
            log.warning(
                "metrics on %s:%d can be read from other machines, partition names included; "
                "metrics.host = 127.0.0.1 keeps them here",
                self.config.host or "all addresses",
                self.config.port,
            )
        try:
            self._server = MetricsServer(self.config.host, self.config.port, self.registry)
        except ConfigError as problem:
            # Steering goes on unwatched: a figure that is missing shows, a daemon must not.
            log.warning("%s; it is tried again every %g s", problem, RETRY)
            self._tried = time.monotonic()

    def close(self) -> None:
        """Stop serving and wait until that is done; closing twice does no harm."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def __enter__(self) -> Metrics:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
