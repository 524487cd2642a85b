"""Tables for worlds with sliced GPUs: a stock of workloads, a cluster, and any number of worlds.

stock = WorkloadTables([mig_day(seed=s) for s in range(8)])
worlds = MigWorlds(cluster, stock, count=256, rules=MigRules())
worlds.load(i, day=3, seed=7)         # world i is to play workload 3
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.compiled.tables import dtype_of, new_table
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.policy import KEYS, Busy, MomentFacts, Placer, Preemption, SliceFacts
from dovetail.mig.simulator.rows import (
    ConfigurationRow,
    GpuRow,
    HistoryRow,
    MigJobRow,
    MigWorld,
    ModelRow,
    PieceRow,
    ProgressRow,
    SlotRow,
)
from dovetail.mig.workload.estimates import EXACT, MigEstimates, groups, lengths, mig_estimates
from dovetail.mig.workload.jobs import COLUMNS, MigWorkload

PAUSE = 4.0
"""Seconds that cutting a GPU anew takes, as measured."""


@dataclass(frozen=True, slots=True)
class MigRules:
    """What is allowed besides placing jobs on free slices."""

    preemption: Preemption = Preemption.NEVER
    busy: Busy = Busy.SKIP
    pause: float = PAUSE

    def __post_init__(self) -> None:
        if not self.pause > 0:
            raise ConfigError(f"pause is {self.pause}, expected above 0 seconds")


class WorkloadTables:
    """Workloads, and what is told of their jobs, as tables that worlds share and never change."""

    def __init__(
        self, workloads: Sequence[MigWorkload], estimates: Sequence[MigEstimates] | None = None
    ) -> None:
        if not workloads:
            raise ConfigError("no workload to play; give one at least")
        self.workloads = tuple(workloads)
        told = estimates or [mig_estimates(workload, EXACT) for workload in workloads]
        self.needs = [_needs(*pair) for pair in zip(workloads, told, strict=True)]
        self.most_groups = max(int(needs["group"].max()) for needs in self.needs)
        self.times = [np.ascontiguousarray(workload.times) for workload in workloads]
        self.most_jobs = max(map(len, workloads))
        self.address: Ints = np.array(
            [
                (len(n), n.ctypes.data, t.ctypes.data)
                for n, t in zip(self.needs, self.times, strict=True)
            ],
            np.int64,
        )  # [workloads, 3] jobs, address of MigJobRow, address of times

    def __len__(self) -> int:
        return len(self.workloads)


class MigWorlds:
    """`count` worlds with the same cluster; `room` slots per GPU, by default as many as it has."""

    def __init__(
        self,
        cluster: MigCluster,
        stock: WorkloadTables,
        count: int,
        rules: MigRules,
        room: int | None = None,
    ) -> None:
        self.cluster, self.stock, self.rules = cluster, stock, rules
        self.kinds, self.watts, self.cuts, self.pieces = _kinds(cluster.kinds)
        first, cuts, slots = self._places(room)
        self.slot_count = slots
        gpus, jobs = len(cluster.models), stock.most_jobs
        self.world = new_table(MigWorld, count)
        self.task = _tables(ProgressRow, count, jobs)
        self.history = _tables(HistoryRow, count, 1 + stock.most_groups)
        self.queue = np.zeros((count, jobs), np.int64)
        self.slot = _tables(SlotRow, count, slots)
        self.gpu = _tables(GpuRow, count, gpus)
        self.slice = _tables(SliceFacts, count, slots)
        self.moment = _tables(MomentFacts, count, 1)
        self.keys = np.zeros((count, slots, KEYS))
        self.initial = cuts
        self.gpu["kind"] = [cluster.kinds.index(kind) for kind in cluster.models]
        self.gpu["first"] = first
        self._fill(count)
        for i in range(count):
            self.load(i, 0, i)

    def load(self, i: int, day: int, seed: int) -> None:
        """Let world i have this workload and begin anew (see `events.begin`)."""
        one = self.world[i]
        one["job_count"], one["jobs"], one["times"] = self.stock.address[day]
        one["chance"] = seed
        self.gpu["cut"][i] = self.initial

    def configurations(self, i: int) -> Ints:
        """How the GPUs of world i are cut now: numbers from 1."""
        mine = self.gpu[i]
        numbers: Ints = mine["cut"] - self.kinds["first"][mine["kind"]] + 1
        return numbers

    def follow(self, placer: Placer) -> None:
        """Let this placement pass over as many jobs as it may."""
        self.world["passes"] = placer.passes

    def _places(self, room: int | None) -> tuple[Ints, Ints, int]:
        """First slot and configuration of each GPU, and how many slots there are."""
        first, cuts, slots = [], [], 0
        for kind, number in zip(self.cluster.models, self.cluster.configurations, strict=True):
            row = int(self.kinds["first"][self.cluster.kinds.index(kind)]) + number - 1
            first.append(slots)
            cuts.append(row)
            slots += int(self.cuts["count"][row]) if room is None else room
        return np.array(first), np.array(cuts), slots

    def _fill(self, count: int) -> None:
        world = self.world
        world["gpu_count"], world["kind_count"] = self.gpu.shape[1], len(self.kinds)
        world["slot_count"], world["group_count"] = self.slot_count, self.stock.most_groups
        world["pause"] = self.rules.pause
        world["drains"] = self.rules.busy is Busy.DRAIN
        world["preempts"] = self.rules.preemption is Preemption.LATEST_DEADLINE
        own: dict[str, NDArray[Any]] = {
            "tasks": self.task, "queue": self.queue, "slots": self.slot, "gpus": self.gpu,
            "history": self.history, "slices": self.slice, "moment": self.moment, "keys": self.keys,
        }  # fmt: skip
        for name, table in own.items():
            world[name] = table.ctypes.data + table.strides[0] * np.arange(count)
        shared = {
            "kinds": self.kinds, "watts": self.watts, "cuts": self.cuts, "pieces": self.pieces,
        }  # fmt: skip
        for name, table in shared.items():
            world[name] = table.ctypes.data


def _tables(row: Any, count: int, rows: int) -> NDArray[Any]:
    return np.zeros((count, rows), dtype_of(row))


def _needs(workload: MigWorkload, estimates: MigEstimates) -> NDArray[Any]:
    table = new_table(MigJobRow, len(workload))
    jobs = workload.trace.jobs
    table["release"], table["memory"] = jobs.submit, jobs.memory
    table["deadline"], table["category"] = workload.deadline, workload.sublinearity()
    table["length"], table["group"] = lengths(workload), groups(workload) + 1
    table["told"] = estimates.factors
    return table


def _kinds(types: Sequence[GpuModel]) -> tuple[NDArray[Any], Floats, NDArray[Any], NDArray[Any]]:
    """Tables of types, power, configurations and their instances."""
    kinds, watts = new_table(ModelRow, len(types)), np.zeros((len(types), COLUMNS))
    total = sum(len(kind.configurations) for kind in types)
    cuts, pieces = (
        new_table(ConfigurationRow, total),
        np.zeros((total, COLUMNS), dtype_of(PieceRow)),
    )
    row = 0
    for number, kind in enumerate(types):
        kinds[number] = (kind.compute_slices, kind.speed, row, len(kind.configurations))
        watts[number, : len(kind.watts)] = kind.watts
        for configuration in kind.configurations:
            parts = configuration.slices
            mean = sum(part.compute for part in parts) / len(parts)
            cuts[row] = (kind.way_of(configuration.number), len(parts), mean)
            for place, (profile, offset) in enumerate(kind.layout(configuration.number)):
                pieces[row, place] = (profile.compute, profile.slice.memory_gb, offset)
            row += 1
    return kinds, watts, cuts, pieces
