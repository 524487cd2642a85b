"""`scontrol show nodes`, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dovetail.slurm.gres import gpu_counts
from dovetail.slurm.json_values import plain
from dovetail.slurm.show import records_of
from dovetail.slurm.words import words_of
from dovetail.traces.clusters.shape import ClusterFormat, Shape
from dovetail.traces.records import read_json
from dovetail.traces.source import read_text

_FIELDS = ("NodeName", "Gres", "CPUTot", "RealMemory", "Partitions", "AvailableFeatures")


def sniff_text(path: Path, head: bytes) -> bool:
    # slurm.conf has NodeName too; only scontrol tells what is allocated or the total.
    return head.lstrip().startswith(b"NodeName=") and (b"CPUTot=" in head or b"CPUAlloc=" in head)


def read_nodes_text(path: Path) -> Shape:
    shape = Shape(path.stem, cpu_nodes=True)
    for fields in records_of(read_text(path), _FIELDS):
        add_node(
            shape,
            fields["NodeName"],
            fields.get("Gres"),
            fields.get("CPUTot"),
            fields.get("RealMemory"),
            words_of(fields.get("Partitions", "")),
            words_of(fields.get("AvailableFeatures", "")),
        )
    return shape


def sniff_json(path: Path, head: bytes) -> bool:
    return head.lstrip()[:1] == b"{" and b'"nodes"' in head and b'"gres"' in head


def read_nodes_json(path: Path) -> Shape:
    shape = Shape(path.stem, cpu_nodes=True)
    for number, node in read_json(path, "nodes"):
        name = str(node.get("name") or node.get("hostname") or f"node-{number}")
        parts = node.get("partitions")
        add_node(
            shape,
            name,
            str(node.get("gres") or ""),
            _text(node.get("cpus")),
            _text(node.get("real_memory")),
            map(str, parts) if isinstance(parts, list) else (),
            _features(node.get("features")),
        )
    return shape


def add_node(
    shape: Shape,
    name: str,
    gres: str | None,
    cpus: str | None,
    memory_mb: str | None,
    partitions: Iterable[str] = (),
    features: tuple[str, ...] = (),
) -> None:
    """A node in Slurm's own words; a node of several GPU types counts as one of the commonest."""
    counts = gpu_counts((gres or "").lower())
    gpus, gpu_type = sum(counts.values()), max(counts, key=lambda name: counts[name], default="")
    if len(counts) > 1:
        shape.notes.append(f"node {name} has several GPU types: all {gpus} taken as {gpu_type}")
    memory = _number(memory_mb)
    shape.add(
        name,
        gpus,
        gpu_type,
        _number(cpus),
        memory / 1024.0 if memory else None,
        partitions,
        features,
    )


def _features(value: Any) -> tuple[str, ...]:
    """A list, or text with commas in old versions."""
    return tuple(map(str, value)) if isinstance(value, list) else words_of(str(value or ""))


def _number(text: str | None) -> float | None:
    return float(text) if text and text.isdecimal() else None


def _text(value: Any) -> str:
    return str(plain(value))


SCONTROL = ClusterFormat("scontrol", "scontrol show nodes", sniff_text, read_nodes_text)
SCONTROL_JSON = ClusterFormat(
    "scontrol-json", "scontrol show nodes --json", sniff_json, read_nodes_json
)
