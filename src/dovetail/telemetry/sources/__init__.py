"""Ways to readings, by name: `prometheus:http://host:9090`, `exporter:http://node1:9400/metrics`.

>>> sorted(SOURCES)
['csv', 'exporter', 'nvml', 'prometheus']
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dovetail.domain.registry import Registry
from dovetail.telemetry.sources.base import RemembersBusy, Replays, Source, SourceError
from dovetail.telemetry.sources.exporter import Exporters
from dovetail.telemetry.sources.nvml import Nvml
from dovetail.telemetry.sources.prometheus import Prometheus

__all__ = ["SOURCES", "RemembersBusy", "Replays", "Source", "SourceError", "open_source"]


def _recording(path: str) -> Source:
    from dovetail.telemetry.sources.recording import Recording  # Polars takes a while to import

    return Recording(Path(path))


SOURCES: Registry[Callable[[str], Source]] = Registry(
    "source of readings",
    {
        "prometheus": Prometheus,
        "exporter": lambda urls: Exporters(urls.split(",")),
        "nvml": lambda _: Nvml(),
        "csv": _recording,
    },
)


def open_source(spec: str) -> Source:
    """The source that `name:where` means."""
    name, _, where = spec.partition(":")
    if name in ("http", "https"):
        raise SourceError(f"{spec}: say what it is, prometheus:{spec} or exporter:{spec}")
    return SOURCES[name](where)
