"""What is read of a GPU: quantities with units and declared ranges, and exporters' names for them.

>>> QUANTITIES["temperature"].low, QUANTITIES["temperature"].high, QUANTITIES["temperature"].unit
(0.0, 130.0, '°C')
>>> EXPORTED["DCGM_FI_DEV_GPU_UTIL"]
Exported(quantity='utilisation', factor=0.01)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dovetail.domain.registry import Registry


@dataclass(frozen=True, slots=True)
class Quantity:
    """One thing that is read of a GPU; values outside low to high cannot be true."""

    name: str
    unit: str
    low: float
    high: float
    about: str


QUANTITIES: Registry[Quantity] = Registry(
    "quantity",
    {
        part.name: part
        for part in (
            Quantity("utilisation", "share", 0.0, 1.0, "time in which a kernel ran"),
            Quantity("copy_utilisation", "share", 0.0, 1.0, "time in which memory was copied"),
            Quantity("dram_active", "share", 0.0, 1.0, "cycles in which the memory moved data"),
            Quantity("temperature", "°C", 0.0, 130.0, "of the chip"),
            Quantity("power", "W", 0.0, 3000.0, "of the board"),
            Quantity("memory_used", "MiB", 0.0, 1048576.0, "of the GPU's own memory"),
            Quantity("memory_free", "MiB", 0.0, 1048576.0, "of the GPU's own memory"),
        )
    },
)
"""Ranges are those of hardware that could exist, not of a model: what lies outside is an error."""

COLUMN = {name: number for number, name in enumerate(QUANTITIES)}
"""Where a quantity stands in a row of readings."""


class Exported(NamedTuple):
    """What an exporter's number means here."""

    quantity: str
    factor: float = 1.0


_PERCENT, _MEBI, _MILLI = 0.01, 1.0 / 2**20, 0.001

DCGM = {
    "DCGM_FI_DEV_GPU_UTIL": Exported("utilisation", _PERCENT),
    "DCGM_FI_DEV_MEM_COPY_UTIL": Exported("copy_utilisation", _PERCENT),
    "DCGM_FI_PROF_DRAM_ACTIVE": Exported("dram_active"),
    "DCGM_FI_DEV_GPU_TEMP": Exported("temperature"),
    "DCGM_FI_DEV_POWER_USAGE": Exported("power"),
    "DCGM_FI_DEV_FB_USED": Exported("memory_used"),
    "DCGM_FI_DEV_FB_FREE": Exported("memory_free"),
}
"""NVIDIA's dcgm-exporter."""

_AMD = {
    "gpu_gfx_activity": Exported("utilisation", _PERCENT),
    "gpu_umc_activity": Exported("dram_active", _PERCENT),
    "gpu_junction_temperature": Exported("temperature"),
    "gpu_package_power": Exported("power"),
    "gpu_used_vram": Exported("memory_used"),
    "gpu_free_vram": Exported("memory_free"),
}
AMD = _AMD | {f"amd_{name}": what for name, what in _AMD.items()}
"""AMD's device-metrics-exporter; from some version on with a prefix."""

JOBSTATS = {
    "nvidia_gpu_duty_cycle": Exported("utilisation", _PERCENT),
    "nvidia_gpu_temperature_celsius": Exported("temperature"),
    "nvidia_gpu_power_usage_milliwatts": Exported("power", _MILLI),
    "nvidia_gpu_memory_used_bytes": Exported("memory_used", _MEBI),
}
"""The exporter that jobstats brings along."""

JOB_NUMBER = "nvidia_gpu_jobId"
"""jobstats: the value is the number of the job that has the GPU; 0: none."""

EXPORTED = DCGM | AMD | JOBSTATS
"""All names that mean something here; exporters do not share any."""
