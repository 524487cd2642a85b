"""Readings of GPUs: sources, checks, normalisation, and which jobs hold idle GPUs.

source = open_source("exporter:http://node1:9400/metrics")
checked = check(source.read())                      # doubtful readings out, counted
features = normalise(checked.readings)              # 0…1 by declared ranges

watch = IdleWatch()
watch.observe(checked.readings)
watch.holdings(held_by_labels(checked.readings), checked.readings.time)
"""

from __future__ import annotations

from dovetail.telemetry.check import CheckConfig, Checked, ReadingFault, check
from dovetail.telemetry.holdings import Holding, held_by_jobs, held_by_labels
from dovetail.telemetry.idle import IdleHolding, IdleRule, IdleWatch
from dovetail.telemetry.monitor import Monitor, NodeReading
from dovetail.telemetry.normalisation import Normalised, RunningStatistics, normalise
from dovetail.telemetry.quantities import QUANTITIES, Quantity
from dovetail.telemetry.readings import GpuLabels, GpuName, Readings
from dovetail.telemetry.sources import SOURCES, Source, SourceError, open_source

__all__ = [
    "QUANTITIES",
    "SOURCES",
    "CheckConfig",
    "Checked",
    "GpuLabels",
    "GpuName",
    "Holding",
    "IdleHolding",
    "IdleRule",
    "IdleWatch",
    "Monitor",
    "NodeReading",
    "Normalised",
    "Quantity",
    "ReadingFault",
    "Readings",
    "RunningStatistics",
    "Source",
    "SourceError",
    "check",
    "held_by_jobs",
    "held_by_labels",
    "normalise",
    "open_source",
]
