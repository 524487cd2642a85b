"""A Prometheus server: the last sample of every GPU, and since when each has been idle.

Samples come from `/federate`: text with the time of each sample. The answer to an instant query of
the API is five times as long, and carries the time of the question for values that may be five
minutes old.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from dovetail.telemetry.quantities import EXPORTED, JOB_NUMBER
from dovetail.telemetry.readings import GpuName, Readings, ReadingsBuilder
from dovetail.telemetry.sources.base import SourceError
from dovetail.telemetry.sources.exposition import ExpositionReader
from dovetail.telemetry.sources.http import TIMEOUT, check_address, fetch
from dovetail.telemetry.sources.labels import KEPT, read_labels

UTILISATION = tuple(name for name, what in EXPORTED.items() if what.quantity == "utilisation")
MATCH = f'{{__name__=~"{"|".join((*EXPORTED, JOB_NUMBER))}"}}'
_BY = ", ".join(sorted(KEPT))

STEPS = 288
"""Points at which the past is looked at, whatever its length: every five minutes of a day."""


class Prometheus:
    """A server that scrapes the exporters.

    source = Prometheus("http://prometheus:9090")
    source.read().column("utilisation")
    source.last_busy(above=0.05, hours=24)
    """

    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        self.url = check_address(url).rstrip("/")
        self.timeout = timeout
        self._reader = ExpositionReader()

    def read(self) -> Readings:
        builder = ReadingsBuilder(time.time())
        asked = urlencode({"match[]": MATCH})
        page = fetch(f"{self.url}/federate?{asked}", self.timeout)
        self._reader.read(page.decode(errors="replace"), builder)
        return builder.build()

    def last_busy(self, above: float, hours: float) -> dict[GpuName, float]:
        """When each GPU was last used more than `above`, or first seen in this time if never."""
        now = time.time()
        seconds = max(60, int(hours * 3600))
        window = f"[{seconds}s:{max(1, seconds // STEPS)}s]"
        found: dict[GpuName, float] = {}
        for name in UTILISATION:
            level = above / EXPORTED[name].factor
            first = f"min by ({_BY}) (min_over_time(timestamp({name}){window}))"
            last = f"max by ({_BY}) (max_over_time(timestamp({name} > {level:g}){window}))"
            for query in (first, last):
                for gpu, value in self._query(query, now):
                    found[gpu] = max(value, found.get(gpu, 0.0))
        return found

    def _query(self, query: str, now: float) -> Iterator[tuple[GpuName, float]]:
        """GPUs and values of an instant query."""
        form = urlencode({"query": query, "time": f"{now:.3f}", "timeout": f"{self.timeout:g}s"})
        page = fetch(f"{self.url}/api/v1/query", self.timeout, form.encode())
        try:
            answer: Any = json.loads(page)
            for part in answer["data"]["result"]:
                gpu = read_labels(part["metric"])
                if gpu is not None:
                    yield gpu[0], float(part["value"][1])
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as problem:
            raise SourceError(f"{self.url}: not an answer of Prometheus: {problem!r}") from problem
