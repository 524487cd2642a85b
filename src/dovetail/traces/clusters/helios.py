"""SenseTime Helios: `cluster_gpu_number.csv`, GPUs per virtual cluster and day."""

from __future__ import annotations

from pathlib import Path

from dovetail.domain.cluster import MAX_NODES
from dovetail.domain.errors import ClusterError
from dovetail.traces.cells import OVERFLOW, read_csv
from dovetail.traces.clusters.shape import ClusterFormat, Shape, refuse_faults
from dovetail.traces.source import column_names

GPUS_PER_NODE = 8


def sniff(path: Path, head: bytes) -> bool:
    names = column_names(head)
    return len(names) > 2 and names[0] == "date" and names[-1] == "total"


def read(path: Path) -> Shape:
    """The last day's sizes: each virtual cluster a partition of 8-GPU nodes and a remainder."""
    cells = read_csv(path)
    cells.require("date", "total")
    cells.frame = cells.frame.tail(1)
    shape = Shape(path.stem)
    day = cells.names("date").to_list()
    shape.notes.append(f"sizes of virtual clusters as of {day[0] if day else 'no day'}")
    for vc in cells.frame.columns:
        if vc in ("line", "date", "total", OVERFLOW):
            continue
        gpus = _gpus(vc, sum(cells.numbers(vc).fill_null(0.0).fill_nan(0.0)))
        for number, start in enumerate(range(0, gpus, GPUS_PER_NODE)):
            shape.add(f"{vc}-{number}", min(GPUS_PER_NODE, gpus - start), partitions=[vc])
    refuse_faults(cells)
    return shape


def _gpus(vc: str, count: float) -> int:
    if not (0 <= count <= MAX_NODES * GPUS_PER_NODE and float(count).is_integer()):
        raise ClusterError(f"virtual cluster {vc}: {count:g} GPUs, expected a whole number")
    return int(count)


HELIOS = ClusterFormat("helios", "SenseTime Helios cluster_gpu_number.csv", sniff, read)
