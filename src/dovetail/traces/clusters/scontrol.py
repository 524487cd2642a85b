"""`scontrol show nodes`, as text and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dovetail.traces.clusters.gres import gpus_of
from dovetail.traces.clusters.shape import ClusterFormat, Shape
from dovetail.traces.records import read_json
from dovetail.traces.source import read_text

_FIELD = re.compile(r"(?:^|\s)([A-Za-z]+)=(\S*)")


def sniff_text(path: Path, head: bytes) -> bool:
    # slurm.conf has NodeName too; only scontrol tells what is allocated or the total.
    return head.lstrip().startswith(b"NodeName=") and (b"CPUTot=" in head or b"CPUAlloc=" in head)


def read_nodes_text(path: Path) -> Shape:
    shape = Shape(path.stem)
    for block in re.split(r"(?m)^(?=NodeName=)", read_text(path)):
        fields = dict(_FIELD.findall(block))
        if "NodeName" in fields:
            add_node(
                shape,
                fields["NodeName"],
                fields.get("Gres"),
                fields.get("CPUTot"),
                fields.get("RealMemory"),
                (part for part in fields.get("Partitions", "").split(",") if part),
            )
    return shape


def sniff_json(path: Path, head: bytes) -> bool:
    return head.lstrip()[:1] == b"{" and b'"nodes"' in head and b'"gres"' in head


def read_nodes_json(path: Path) -> Shape:
    shape = Shape(path.stem)
    for number, node in read_json(path, "nodes"):
        name = str(node.get("name") or node.get("hostname") or f"node-{number}")
        parts = node.get("partitions")
        add_node(
            shape,
            name,
            str(node.get("gres") or ""),
            _amount(node.get("cpus")),
            _amount(node.get("real_memory")),
            map(str, parts) if isinstance(parts, list) else (),
        )
    return shape


def add_node(
    shape: Shape,
    name: str,
    gres: str | None,
    cpus: str | None,
    memory_mb: str | None,
    partitions: Iterable[str] = (),
) -> None:
    """A node in Slurm's own words; a node of several GPU types counts as one of the commonest."""
    gpus, gpu_type, mixed = gpus_of(gres)
    if mixed:
        shape.notes.append(f"node {name} has several GPU types: all {gpus} taken as {gpu_type}")
    memory = _number(memory_mb)
    shape.add(name, gpus, gpu_type, _number(cpus), memory / 1024.0 if memory else None, partitions)


def _number(text: str | None) -> float | None:
    return float(text) if text and text.isdecimal() else None


def _amount(value: Any) -> str | None:
    """Plain numbers in old versions, {set, infinite, number} in new ones."""
    return str(value.get("number") if isinstance(value, dict) else value)


SCONTROL = ClusterFormat("scontrol", "scontrol show nodes", sniff_text, read_nodes_text)
SCONTROL_JSON = ClusterFormat(
    "scontrol-json", "scontrol show nodes --json", sniff_json, read_nodes_json
)
