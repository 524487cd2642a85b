"""NVIDIA's driver on this very node, through nvidia-ml-py; no exporter is needed."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import Any

from dovetail.telemetry.quantities import COLUMN
from dovetail.telemetry.readings import GpuLabels, GpuName, Readings, ReadingsBuilder
from dovetail.telemetry.sources.base import SourceError


class Nvml:
    """The GPUs of this node.

    Nvml().read().column("temperature")
    """

    def __init__(self) -> None:
        try:
            import pynvml
        except ImportError as problem:
            raise SourceError(
                "the source nvml needs nvidia-ml-py: pip install 'dovetail-scheduler[nvml]'"
            ) from problem
        self._nvml: Any = pynvml
        self._host = socket.gethostname()

    def read(self) -> Readings:
        nvml = self._nvml
        try:
            nvml.nvmlInit()
        except nvml.NVMLError as problem:
            raise SourceError(
                f"NVIDIA's driver on {self._host} does not answer: {problem}; run this on a node "
                "with GPUs, or read an exporter"
            ) from problem
        try:
            builder = ReadingsBuilder(time.time())
            for index in range(nvml.nvmlDeviceGetCount()):
                self._read_gpu(index, builder)
            return builder.build()
        except nvml.NVMLError as problem:
            raise SourceError(f"NVIDIA's driver on {self._host}: {problem}") from problem
        finally:
            with suppress(nvml.NVMLError):
                nvml.nvmlShutdown()

    def _read_gpu(self, index: int, builder: ReadingsBuilder) -> None:
        nvml = self._nvml
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        labels = GpuLabels(
            uuid=_text(nvml.nvmlDeviceGetUUID(handle)),
            model=_text(nvml.nvmlDeviceGetName(handle)),
        )
        row = builder.row(GpuName(self._host, str(index)), labels)
        told: dict[str, float] = {}
        # Each by itself: a cut GPU, for one, has no utilisation, and old boards tell no power.
        with suppress(nvml.NVMLError):
            rates = nvml.nvmlDeviceGetUtilizationRates(handle)
            told |= {"utilisation": rates.gpu / 100, "copy_utilisation": rates.memory / 100}
        with suppress(nvml.NVMLError):
            memory = nvml.nvmlDeviceGetMemoryInfo(handle)
            told |= {"memory_used": memory.used / 2**20, "memory_free": memory.free / 2**20}
        with suppress(nvml.NVMLError):
            told["power"] = nvml.nvmlDeviceGetPowerUsage(handle) / 1000
        with suppress(nvml.NVMLError):
            sensor = nvml.NVML_TEMPERATURE_GPU
            told["temperature"] = nvml.nvmlDeviceGetTemperature(handle, sensor)
        for quantity, value in told.items():
            builder.put(row, COLUMN[quantity], float(value), builder.time)


def _text(found: str | bytes) -> str:
    """Old versions of the binding give bytes."""
    return found.decode(errors="replace") if isinstance(found, bytes) else found
