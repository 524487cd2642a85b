"""Clusters as TOML files: groups of nodes, partitions with shares, speeds."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path
from typing import Any

from dovetail.domain.cluster import ANY_TYPE, Cluster, Node, Partition
from dovetail.domain.errors import ClusterError

_RANGE = re.compile(r"^(?P<head>.*)\[(?P<low>\d+)-(?P<high>\d+)\](?P<tail>.*)$")
_TOP = {"name", "nodes", "partitions", "speed", "qos"}
_NODE = {"name", "count", "gpus", "type", "cpus", "memory_gb", "switch", "nodes_per_switch", "mig"}
_PARTITION = {"nodes", "share", "priority"}


def load_cluster(spec: str | Path) -> Cluster:
    """A cluster from `64x8:v100,20x4:p100` or from a TOML file."""
    path = Path(spec)
    if path.suffix != ".toml":
        return Cluster.parse(str(spec))
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise ClusterError(f"{path}: {problem.strerror or problem}") from problem
    return cluster_from_toml(text, name=path.name)


def cluster_from_toml(text: str, name: str = "cluster.toml") -> Cluster:
    """Build a cluster from TOML text; unknown keys are errors.

    A partition takes `nodes` by name (`"v100-[0-31]"`) or a `share` of all nodes: shares are
    cut one after the other from the nodes in order, so that they never overlap.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise ClusterError(f"{name}: not valid TOML: {problem}") from problem
    _refuse_unknown(data, _TOP, name)
    nodes: list[Node] = []
    for group in _tables(data.get("nodes"), f"{name}: [[nodes]]"):
        nodes += _group(group, len(nodes), name)
    return Cluster(
        tuple(nodes),
        tuple(_partitions(data.get("partitions", {}), nodes, name)),
        {key.lower(): value for key, value in _numbers(data, "speed", name).items()},
        _numbers(data, "qos", name),
        str(data.get("name", name)),
    )


def _group(group: dict[str, Any], before: int, file: str) -> list[Node]:
    _refuse_unknown(group, _NODE, f"{file}: [[nodes]]")
    if "gpus" not in group:
        raise ClusterError(f"{file}: [[nodes]] needs gpus")
    gpu_type = str(group.get("type", ANY_TYPE)).lower()
    names = _expand(str(group.get("name", f"{gpu_type}-[{before}-{before}]")))
    count = int(group.get("count", len(names)))
    if len(names) == 1 and count > 1:
        stem = str(group["name"]) if "name" in group else gpu_type
        first = 0 if "name" in group else before
        names = [f"{stem}-{first + i}" for i in range(count)]
    if len(names) != count:
        raise ClusterError(f"{file}: [[nodes]] {group.get('name')}: {len(names)} names for {count}")
    per_switch = int(group.get("nodes_per_switch", count))
    if per_switch < 1:
        raise ClusterError(
            f"{file}: [[nodes]] nodes_per_switch is {per_switch}, expected 1 or more"
        )
    switch = str(group.get("switch", f"switch-{before}"))
    return [
        Node(
            name=name,
            gpus=int(group["gpus"]),
            gpu_type=gpu_type,
            cpus=float(group.get("cpus", math.inf)),
            memory_gb=float(group.get("memory_gb", math.inf)),
            switch=switch if per_switch >= count else f"{switch}.{i // per_switch}",
            mig=tuple(int(m) for m in group.get("mig", ())),
        )
        for i, name in enumerate(names)
    ]


def _partitions(table: Any, nodes: list[Node], file: str) -> list[Partition]:
    if not isinstance(table, dict):
        raise ClusterError(f"{file}: write partitions as [partitions.NAME]")
    index = {node.name: i for i, node in enumerate(nodes)}
    partitions, taken, shared = [], 0, 0.0
    for name, entry in table.items():
        where = f"{file}: [partitions.{name}]"
        _refuse_unknown(entry, _PARTITION, where)
        if ("nodes" in entry) == ("share" in entry):
            raise ClusterError(f"{where} needs either nodes or share")
        if "nodes" in entry:
            members = [member for pattern in entry["nodes"] for member in _expand(str(pattern))]
            unknown = [member for member in members if member not in index]
            if unknown:
                raise ClusterError(f"{where}: no node is called {unknown[0]!r}")
            chosen = frozenset(index[member] for member in members)
        else:
            shared += float(entry["share"])
            if not 0 < shared <= 1 + 1e-9:
                raise ClusterError(f"{where}: shares add up to {shared:g}, expected at most 1")
            stop = round(shared * len(nodes))
            chosen = frozenset(range(taken, stop))
            taken = stop
        partitions.append(Partition(str(name), chosen, float(entry.get("priority", 1.0))))
    return partitions


def _numbers(data: dict[str, Any], key: str, file: str) -> dict[str, float]:
    table = data.get(key, {})
    if not isinstance(table, dict) or not all(isinstance(v, int | float) for v in table.values()):
        raise ClusterError(f"{file}: [{key}] maps names to numbers, for example v100 = 1.0")
    return {str(name): float(value) for name, value in table.items()}


def _expand(pattern: str) -> list[str]:
    """`gpu[1-3]` to gpu1, gpu2, gpu3, keeping leading zeros."""
    match = _RANGE.match(pattern)
    if match is None:
        return [pattern]
    low, high = match["low"], match["high"]
    width = len(low) if low.startswith("0") else 0
    return [f"{match['head']}{i:0{width}d}{match['tail']}" for i in range(int(low), int(high) + 1)]


def _tables(value: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ClusterError(f"{where}: write at least one [[nodes]] table")
    return value


def _refuse_unknown(table: Any, known: set[str], where: str) -> None:
    if not isinstance(table, dict):
        raise ClusterError(f"{where}: expected a table")
    unknown = sorted(set(table) - known)
    if unknown:
        raise ClusterError(
            f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}"
        )
