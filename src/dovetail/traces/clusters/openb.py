"""Alibaba 2023: `openb_node_list_*.csv`."""

from __future__ import annotations

from pathlib import Path

from dovetail.traces.cells import read_csv
from dovetail.traces.clusters.shape import ClusterFormat, Shape, refuse_faults
from dovetail.traces.source import column_names

_COLUMNS = ("sn", "gpu", "model", "cpu_milli", "memory_mib")


def sniff(path: Path, head: bytes) -> bool:
    return set(_COLUMNS) <= set(column_names(head))


def read(path: Path) -> Shape:
    cells = read_csv(path)
    cells.require(*_COLUMNS)
    columns = (
        cells.names("sn"),
        cells.numbers("gpu"),
        cells.names("model"),
        cells.numbers("cpu_milli") / 1000.0,
        cells.numbers("memory_mib") / 1024.0,
    )
    refuse_faults(cells)
    shape = Shape(path.stem)
    for name, gpus, model, cpus, memory in zip(*columns, strict=True):
        shape.add(name, gpus, model, cpus, memory)
    return shape


OPENB = ClusterFormat("openb", "Alibaba 2023 openb_node_list_*.csv", sniff, read)
