"""Alibaba PAI 2020: `pai_machine_spec.csv`, with its header in a file of its own."""

from __future__ import annotations

from pathlib import Path

from dovetail.traces.clusters.shape import ClusterFormat, Shape, refuse_faults
from dovetail.traces.formats.pai2020 import read_table
from dovetail.traces.source import first_line

_FILE = "pai_machine_spec.csv"
_HEADER = "machine,gpu_type,cap_cpu,cap_mem,cap_gpu"


def sniff(path: Path, head: bytes) -> bool:
    return path.name == _FILE or first_line(head) == _HEADER


def read(path: Path) -> Shape:
    cells = read_table(path, _HEADER)
    cells.require(*_HEADER.split(","))
    columns = (
        cells.names("machine"),
        cells.numbers("cap_gpu"),
        cells.names("gpu_type"),
        cells.numbers("cap_cpu"),
        cells.numbers("cap_mem"),
    )
    refuse_faults(cells)
    shape = Shape(path.stem)
    for name, gpus, gpu_type, cpus, memory in zip(*columns, strict=True):
        shape.add(name, gpus, gpu_type, cpus, memory)
    return shape


PAI2020 = ClusterFormat("pai2020", f"Alibaba PAI 2020 {_FILE}", sniff, read)
