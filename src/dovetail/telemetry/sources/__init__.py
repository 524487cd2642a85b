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


def _exporters(urls: str) -> Source:
    """Exporters of GPU metrics, one URL for each node."""
    return Exporters(urls.split(","))


def _this_node(where: str) -> Source:
    """NVIDIA's library on this node."""
    if where:
        raise SourceError(f"nvml:{where}: it reads the GPUs of this node; write nvml alone")
    return Nvml()


def _recording(path: str) -> Source:
    """A CSV with one reading in each line."""
    from dovetail.telemetry.sources.recording import Recording  # Polars takes a while to import

    return Recording(Path(path))


SOURCES: Registry[Callable[[str], Source]] = Registry(
    "source of readings",
    {
        "prometheus": Prometheus,
        "exporter": _exporters,
        "nvml": _this_node,
        "csv": _recording,
    },
)


def open_source(spec: str) -> Source:
    """The source that `name:where` means."""
    name, _, where = spec.partition(":")
    if name in ("http", "https"):
        raise SourceError(f"{spec}: say what it is, prometheus:{spec} or exporter:{spec}")
    return SOURCES[name](where)
