"""Exporters on the nodes themselves: DCGM's, AMD's or jobstats', one address for each node."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from dovetail.telemetry.readings import Readings, ReadingsBuilder
from dovetail.telemetry.sources.base import SourceError
from dovetail.telemetry.sources.exposition import ExpositionReader
from dovetail.telemetry.sources.http import TIMEOUT, check_address, fetch

AT_ONCE = 32
"""Nodes asked at the same time; they answer in milliseconds, or not at all."""


class Exporters:
    """Asks every address; one that does not answer is counted, all of them is an error.

    exporters = Exporters(["http://node1:9400/metrics", "http://node2:9400/metrics"])
    exporters.read().column("utilisation")
    """

    def __init__(self, urls: Sequence[str], timeout: float = TIMEOUT) -> None:
        self.urls = [check_address(url) for url in urls]
        if not self.urls:
            raise SourceError("no address of an exporter; name at least one")
        self.timeout = timeout
        self._reader = ExpositionReader()

    def read(self) -> Readings:
        builder = ReadingsBuilder(time.time())
        problems: list[SourceError] = []
        with ThreadPoolExecutor(min(AT_ONCE, len(self.urls))) as threads:
            for url, page in zip(self.urls, threads.map(self._fetch, self.urls), strict=True):
                if isinstance(page, SourceError):
                    problems.append(page)
                    builder.pass_over("exporters that do not answer")
                    continue
                host = urlsplit(url).hostname or ""
                self._reader.read(page.decode(errors="replace"), builder, host)
        if len(problems) == len(self.urls):
            raise problems[0]
        return builder.build()

    def _fetch(self, url: str) -> bytes | SourceError:
        try:
            return fetch(url, self.timeout)
        except SourceError as problem:
            return problem
