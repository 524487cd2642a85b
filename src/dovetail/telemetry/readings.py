"""Readings of many GPUs at one moment: a row per GPU or MIG instance, a column per quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dovetail.domain.jobs import Floats
from dovetail.telemetry.quantities import COLUMN, QUANTITIES

AGREE = 0.05
"""Of a quantity's range: two samples that differ by less do not contradict each other."""

_TOLERANCE = AGREE * np.array([part.high - part.low for part in QUANTITIES.values()])


class GpuName(NamedTuple):
    """Which GPU a row is of; an instance of a cut GPU has a row of its own."""

    host: str
    number: str  # on its node, as the exporter writes it
    instance: str = ""  # MIG's number of the instance; empty: the whole GPU

    @property
    def slot(self) -> str:
        """Its number on the node, with that of the instance: `0`, `0.7`."""
        return f"{self.number}.{self.instance}" if self.instance else self.number


class GpuLabels(NamedTuple):
    """What an exporter says of a GPU besides numbers; empty: it does not say."""

    uuid: str = ""
    model: str = ""  # "NVIDIA A100-SXM4-80GB"
    profile: str = ""  # of a MIG instance: "1g.10gb"
    job: str = ""  # number of the job that has it


@dataclass(frozen=True)
class Readings:
    """What one reading of a source gave; NaN where nothing is known."""

    time: float  # seconds since 1970, of the reading
    gpus: tuple[GpuName, ...]
    labels: tuple[GpuLabels, ...]
    values: Floats  # [GPUs, quantities]
    taken: Floats  # [GPUs], when each was measured; NaN: the source does not tell
    differing: frozenset[tuple[int, int]] = frozenset()  # (row, column) told twice, differently
    unreadable: Mapping[str, int] = field(default_factory=dict)  # passed over, how often

    def column(self, quantity: str) -> Floats:
        found: Floats = self.values[:, COLUMN[quantity]]
        return found

    @cached_property
    def by_host(self) -> Mapping[str, tuple[int, ...]]:
        """Rows of each node, under its short name: Slurm knows nodes so, exporters often do not."""
        found: dict[str, list[int]] = {}
        for row, gpu in enumerate(self.gpus):
            found.setdefault(short_host(gpu.host), []).append(row)
        return {host: tuple(rows) for host, rows in found.items()}

    def __len__(self) -> int:
        return len(self.gpus)


def short_host(name: str) -> str:
    """`node7` of `node7.cluster.example:9400`; a number such as 10.0.0.7 stays whole.

    >>> short_host("node7.cluster.example:9400"), short_host("10.0.0.7:9400")
    ('node7', '10.0.0.7')
    """
    host = name.partition(":")[0]
    first = host.partition(".")[0]
    return host if first.isdigit() else first


class ReadingsBuilder:
    """Collects samples in any order and makes rows of them.

    >>> builder = ReadingsBuilder(time=60.0)
    >>> row = builder.row(GpuName("n1", "0"), GpuLabels(model="A100"))
    >>> builder.put(row, COLUMN["utilisation"], 0.5, 58.0)
    >>> builder.build().column("utilisation").tolist()
    [0.5]
    """

    def __init__(self, time: float) -> None:
        self.time = time
        self._rows: dict[GpuName, int] = {}
        self._labels: list[GpuLabels] = []
        self._samples: list[tuple[int, int, float, float]] = []
        self.unreadable: dict[str, int] = {}

    def row(self, gpu: GpuName, labels: GpuLabels) -> int:
        """The GPU's row; what two series say of it in words is put together."""
        row = self._rows.setdefault(gpu, len(self._rows))
        if row == len(self._labels):
            self._labels.append(labels)
        elif labels != self._labels[row]:
            self._labels[row] = GpuLabels(
                *(old or new for old, new in zip(self._labels[row], labels, strict=True))
            )
        return row

    def put(self, row: int, column: int, value: float, taken: float) -> None:
        """One sample of a quantity, and when it was measured."""
        self._samples.append((row, column, value, taken))

    def label_job(self, row: int, job: str) -> None:
        self._labels[row] = self._labels[row]._replace(job=job)

    def pass_over(self, why: str) -> None:
        self.unreadable[why] = self.unreadable.get(why, 0) + 1

    def build(self) -> Readings:
        """The first sample of a quantity counts; a later one that differs is a contradiction."""
        samples = np.array(self._samples, float).reshape(-1, 4)
        rows, columns = samples[:, 0].astype(np.int64), samples[:, 1].astype(np.int64)
        # NaN means here that nothing was said: who says NaN is wrong, not silent.
        told = np.where(np.isnan(samples[:, 2]), np.inf, samples[:, 2])
        values = np.full((len(self._rows), len(COLUMN)), np.nan)
        cells, samples_of = np.unique(rows * len(COLUMN) + columns, return_index=True)
        values.flat[cells] = told[samples_of]
        first = values[rows, columns]
        with np.errstate(invalid="ignore"):
            differs = (first != told) & ~(np.abs(first - told) <= _TOLERANCE[columns])
        differing = zip(rows[differs].tolist(), columns[differs].tolist(), strict=True)
        # Of the samples of a GPU the oldest counts: one quantity that has stopped is a fault.
        taken = np.full(len(self._rows), np.inf)
        np.minimum.at(taken, rows, samples[:, 3])
        taken[np.isinf(taken)] = np.nan
        return Readings(
            self.time,
            tuple(self._rows),
            tuple(self._labels),
            values,
            taken,
            frozenset(differing),
            self.unreadable,
        )
