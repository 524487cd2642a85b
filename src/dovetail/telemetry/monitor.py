"""Telemetry beside a scheduler: read, check, follow and tell, cycle by cycle.

monitor = Monitor(open_source("exporter:http://node1:9400/metrics"))
monitor.update(snapshot.running)      # once a cycle, with the jobs that run
monitor.nodes["n1"].utilisation       # joins a snapshot by the node's name
monitor.idle                          # jobs that hold idle GPUs
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from prometheus_client.core import Metric

from dovetail.telemetry.check import CheckConfig, Checked, check
from dovetail.telemetry.families import ReadingTotals, telemetry_families
from dovetail.telemetry.holdings import (
    Holding,
    RunningJob,
    held_by_jobs,
    held_by_labels,
    name_users,
)
from dovetail.telemetry.idle import IdleHolding, IdleRule, IdleWatch
from dovetail.telemetry.readings import Readings
from dovetail.telemetry.sources.base import Source, SourceError

log = logging.getLogger(__name__)


class NodeReading(NamedTuple):
    """What is known of a node's GPUs; NaN: nothing."""

    gpus: int  # with a reading
    utilisation: float  # mean
    idle: int  # of them, now
    hottest: float  # °C


class Monitor:
    """Keeps the last good reading; a source that fails never stops who asked."""

    def __init__(
        self, source: Source, rule: IdleRule | None = None, config: CheckConfig | None = None
    ) -> None:
        self.source, self.config = source, config
        self.watch = IdleWatch(rule)
        self.totals = ReadingTotals()
        self.checked: Checked | None = None
        self.nodes: Mapping[str, NodeReading] = {}
        self.idle: tuple[IdleHolding, ...] = ()

    def update(self, running: Sequence[RunningJob] = ()) -> bool:
        """Read once, and join with the jobs that run; False: the source failed."""
        try:
            checked = check(self.source.read(), self.config)
        except SourceError as problem:
            log.warning("no telemetry: %s", problem)
            self.totals.unreadable["failed readings"] = (
                self.totals.unreadable.get("failed readings", 0) + 1
            )
            self.nodes, self.idle = {}, ()
            return False
        readings = checked.readings
        self.checked = checked
        self.totals.add(checked)
        self.watch.observe(readings)
        self.nodes = summarise(readings, self.watch.rule.below)
        self.idle = self.watch.holdings(who_holds(readings, running), readings.time)
        return True

    def families(self) -> Iterable[Metric]:
        """For a Prometheus registry."""
        gpus = len(self.checked.readings) if self.checked else 0
        return telemetry_families(self.totals, gpus, self.idle)


def who_holds(readings: Readings, running: Sequence[RunningJob]) -> list[Holding]:
    """By the exporter's labels, which name GPUs; by Slurm's count per node where it has none."""
    by_labels = held_by_labels(readings)
    return name_users(by_labels, running) if by_labels else held_by_jobs(running)


def summarise(readings: Readings, below: float) -> dict[str, NodeReading]:
    """By short name of the node, which is Slurm's."""
    used, heat = readings.column("utilisation"), readings.column("temperature")
    found = {}
    for host, rows in readings.by_host.items():
        own = used[list(rows)]
        known = own[~np.isnan(own)]
        mean = float(known.mean()) if len(known) else np.nan
        warm = heat[list(rows)]
        hottest = float(np.nanmax(warm)) if (~np.isnan(warm)).any() else np.nan
        found[host] = NodeReading(len(known), mean, int((known < below).sum()), hottest)
    return found
