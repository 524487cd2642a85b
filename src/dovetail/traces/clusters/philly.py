"""Microsoft Philly: `cluster_machine_list`, whose GPUs are told apart by their memory only."""

from __future__ import annotations

from pathlib import Path

from dovetail.traces.cells import read_csv
from dovetail.traces.clusters.shape import ClusterFormat, Shape, refuse_faults
from dovetail.traces.source import column_names

_COLUMNS = ("machineId", "number of GPUs", "single GPU mem")


def sniff(path: Path, head: bytes) -> bool:
    return set(_COLUMNS) <= set(column_names(head))


def read(path: Path) -> Shape:
    cells = read_csv(path)
    cells.require(*_COLUMNS)
    columns = (cells.names(_COLUMNS[0]), cells.numbers(_COLUMNS[1]), cells.names(_COLUMNS[2]))
    refuse_faults(cells)
    shape = Shape(path.stem)
    shape.notes.append("GPU types are named by their memory: Philly tells no model")
    for name, gpus, memory in zip(*columns, strict=True):
        shape.add(name, gpus, memory.replace(" ", "") if memory else None)
    return shape


PHILLY = ClusterFormat("philly", "Microsoft Philly cluster_machine_list", sniff, read)
