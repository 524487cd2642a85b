"""Clusters as TOML files: groups of nodes, partitions with shares, speeds."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dovetail.domain.associations import AS_PARENT, ROOT, Association
from dovetail.domain.cluster import ANY_TYPE, MAX_NODES, SETTINGS, Cluster, Node, Partition
from dovetail.domain.errors import ClusterError
from dovetail.domain.limits import BOUNDS, Each, Limit
from dovetail.domain.outage_toml import read_access, read_outages, read_reservations
from dovetail.domain.toml_table import TomlTable, refuse_unknown

MAX_BYTES = 32 << 20
"""100,000 nodes with a table each take 10 MB; what is larger is no cluster."""

MAX_MEMBERSHIPS = 2_000_000
"""Nodes of all partitions together: twenty partitions of all nodes of the largest cluster."""

_RANGE = re.compile(r"^(?P<head>.*)\[(?P<low>[0-9]{1,9})-(?P<high>[0-9]{1,9})\](?P<tail>.*)$")
_TOP = {
    "name",
    "nodes",
    "partitions",
    "speed",
    "qos",
    "kind_speed",
    "limits",
    "slurm",
    "associations",
    "outages",
    "licenses",
    "reservations",
}
_NODE = {
    "name", "count", "gpus", "type", "cpus", "memory_gb", "switch", "nodes_per_switch", "mig",
    "features",
}  # fmt: skip
_PARTITION = {
    "nodes", "share", "priority", "tier", "exclusive", "billing", "default_minutes",
    "accounts", "not_accounts", "qos", "not_qos",
}  # fmt: skip
_ASSOCIATION = {"account", "user", "parent", "shares"}
_NAMES = ("users", "accounts", "qos", "partitions")
_LIMIT = {*_NAMES, "each", *BOUNDS}


def load_cluster(spec: str | Path) -> Cluster:
    """A cluster from `64x8:v100,20x4:p100` or from a TOML file."""
    path = Path(spec)
    if path.suffix != ".toml":
        return Cluster.parse(str(spec))
    return cluster_from_toml(_read(path), name=path.name)


def cluster_from_toml(text: str, name: str = "cluster.toml") -> Cluster:
    """Build a cluster from TOML text; unknown keys and values of another type are errors.

    A partition takes `nodes` by name (`"v100-[0-31]"`) or a `share` of all nodes: shares are
    cut one after the other from the nodes in order, so that they never overlap.
    """
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise ClusterError(f"{name}: not valid TOML: nested too deeply") from None
    except ValueError as problem:  # also for integers of thousands of digits
        raise ClusterError(f"{name}: not valid TOML: {problem}") from problem
    refuse_unknown(data, _TOP, name)
    top = TomlTable(data, name)
    nodes: list[Node] = []
    for number, group in enumerate(_groups(data.get("nodes"), name), start=1):
        nodes += _group(group, len(nodes), f"{name}: [[nodes]] number {number}")
        if len(nodes) > MAX_NODES:
            raise ClusterError(f"{name}: more than {MAX_NODES:,} nodes")
    index = {node.name: i for i, node in enumerate(nodes)}

    def members(patterns: list[str], where: str) -> frozenset[int]:
        return _members(patterns, index, where)

    return Cluster(
        tuple(nodes),
        tuple(_partitions(data.get("partitions", {}), nodes, name)),
        {key.lower(): value for key, value in _numbers(data, "speed", name).items()},
        _numbers(data, "qos", name),
        top.text("name", name),
        _kind_speeds(data.get("kind_speed", {}), name),
        tuple(_limits(data.get("limits", []), name)),
        _settings(data.get("slurm", {}), name),
        tuple(_associations(data.get("associations", []), name)),
        tuple(read_outages(data.get("outages", []), name, members)),
        tuple(read_reservations(data.get("reservations", []), name, members)),
        _licenses(data.get("licenses", {}), name),
    )


def _associations(value: Any, file: str) -> Iterator[Association]:
    if not isinstance(value, list):
        raise ClusterError(f"{file}: write the tree of accounts as [[associations]]")
    for number, content in enumerate(value, start=1):
        where = f"{file}: [[associations]] number {number}"
        refuse_unknown(content, _ASSOCIATION, where)
        entry = TomlTable(content, where)
        own = content.get("shares") == "parent"
        yield Association(
            entry.text("account", ""),
            entry.text("user", ""),
            entry.text("parent", ROOT),
            AS_PARENT if own else entry.number("shares", 1.0),
        )


def _limits(value: Any, file: str) -> Iterator[Limit]:
    if not isinstance(value, list):
        raise ClusterError(f"{file}: write limits as [[limits]]")
    for number, content in enumerate(value, start=1):
        where = f"{file}: [[limits]] number {number}"
        refuse_unknown(content, _LIMIT, where)
        entry = TomlTable(content, where)
        each = entry.text("each", Each.ALL.value)
        if each not in {part.value for part in Each}:
            raise ClusterError(
                f"{where}: each is {each!r}, expected all, user, account, job or node"
            )
        users, accounts, qos, partitions = (tuple(entry.texts(key)) for key in _NAMES)
        amounts = {key: entry.number(key, free) for key, free in BOUNDS.items()}
        yield Limit(users, accounts, qos, partitions, Each(each), **amounts)


def _settings(value: Any, file: str) -> dict[str, str]:
    refuse_unknown(value, set(SETTINGS), f"{file}: [slurm]")
    table = TomlTable(value, f"{file}: [slurm]")
    return {key: table.text(key, "") for key in value}


def _licenses(value: Any, file: str) -> dict[str, int]:
    if not isinstance(value, dict):
        raise ClusterError(f"{file}: [licenses] maps names to numbers, for example matlab = 10")
    table = TomlTable(value, f"{file}: [licenses]")
    return {str(name): table.whole(name, 0, 0) for name in value}


def _kind_speeds(table: Any, name: str) -> dict[str, dict[str, float]]:
    if not isinstance(table, dict):
        raise ClusterError(f"{name}: write speeds of a kind of jobs as [kind_speed.KIND]")
    return {
        str(kind): {key.lower(): value for key, value in _numbers(table, kind, name).items()}
        for kind in table
    }


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ClusterError(f"{path}: larger than {MAX_BYTES >> 20} MiB: not a cluster file")
        return data.decode()
    except OSError as problem:
        raise ClusterError(f"{path}: {problem.strerror or problem}") from problem
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise ClusterError(f"{path} line {line}: not UTF-8 text, which TOML has to be") from None
    except ValueError as problem:
        raise ClusterError(f"{str(path)!r}: not the name of a file: {problem}") from None


def _group(entry: Any, before: int, where: str) -> list[Node]:
    refuse_unknown(entry, _NODE, where)
    group = TomlTable(entry, where)
    gpus = group.required_whole("gpus")
    gpu_type = group.text("type", ANY_TYPE).lower()
    given = group.text("name", "")
    names = _names(given or f"{gpu_type}-{before}", where)
    count = group.whole("count", len(names), 1, MAX_NODES)
    if len(names) == 1 and count > 1:
        stem, first = (given, 0) if given else (gpu_type, before)
        names = [f"{stem}-{first + i}" for i in range(count)]
    if len(names) != count:
        raise ClusterError(f"{where}: name gives {len(names)} names, but count is {count}")
    per_switch = group.whole("nodes_per_switch", count, 1)
    switch = group.text("switch", f"switch-{before}")
    cpus, memory = group.number("cpus", math.inf), group.number("memory_gb", math.inf)
    mig, features = group.whole_numbers("mig"), tuple(group.texts("features"))
    return [
        Node(
            name=name,
            gpus=gpus,
            gpu_type=gpu_type,
            cpus=cpus,
            memory_gb=memory,
            switch=switch if per_switch >= count else f"{switch}.{i // per_switch}",
            mig=mig,
            features=features,
        )
        for i, name in enumerate(names)
    ]


def _partitions(table: Any, nodes: list[Node], file: str) -> list[Partition]:
    if not isinstance(table, dict):
        raise ClusterError(f"{file}: write partitions as [partitions.NAME]")
    index = {node.name: i for i, node in enumerate(nodes)}
    partitions, taken, shared, listed = [], 0, 0.0, 0
    for name, content in table.items():
        where = f"{file}: [partitions.{name}]"
        refuse_unknown(content, _PARTITION, where)
        entry = TomlTable(content, where)
        if ("nodes" in content) == ("share" in content):
            raise ClusterError(f"{where} needs either nodes or share")
        if "nodes" in content:
            chosen = _members(entry.texts("nodes"), index, where)
        else:
            shared += entry.number("share", 0.0)
            if not 0 < shared <= 1 + 1e-9:
                raise ClusterError(f"{where}: shares add up to {shared:g}, expected at most 1")
            stop = round(shared * len(nodes))
            chosen = frozenset(range(taken, stop))
            taken = stop
        listed += len(chosen)
        if listed > MAX_MEMBERSHIPS:
            raise ClusterError(
                f"{where}: more than {MAX_MEMBERSHIPS:,} nodes in all partitions together"
            )
        partitions.append(
            Partition(
                str(name),
                chosen,
                entry.number("priority", 1.0),
                entry.whole("tier", 1, 0),
                entry.flag("exclusive"),
                tuple(_numbers(content, "billing", where).items()),
                entry.number("default_minutes", math.inf),
                read_access(entry),
            )
        )
    return partitions


def _members(patterns: list[str], index: dict[str, int], where: str) -> frozenset[int]:
    chosen: set[int] = set()
    named = 0
    for pattern in patterns:
        for member in _names(pattern, where):
            if member not in index:
                first, last = next(iter(index)), next(reversed(index))
                raise ClusterError(
                    f"{where}: no node is called {member!r}; the nodes are {first} to {last}"
                )
            chosen.add(index[member])
            named += 1
        if named > MAX_NODES:
            raise ClusterError(f"{where}: names more than {MAX_NODES:,} nodes")
    return frozenset(chosen)


def _numbers(data: dict[str, Any], key: str, file: str) -> dict[str, float]:
    content = data.get(key, {})
    if not isinstance(content, dict):
        raise ClusterError(f"{file}: [{key}] maps names to numbers, for example v100 = 1.0")
    table = TomlTable(content, f"{file}: [{key}]")
    return {str(name): table.number(name, 0.0) for name in content}


def _names(pattern: str, where: str) -> list[str]:
    """`gpu[1-3]` to gpu1, gpu2, gpu3, keeping leading zeros."""
    match = _RANGE.match(pattern)
    if match is None:
        return [pattern]
    low, high = match["low"], match["high"]
    if int(high) - int(low) >= MAX_NODES:
        raise ClusterError(f"{where}: {pattern!r} names more than {MAX_NODES:,} nodes")
    width = len(low) if low.startswith("0") else 0
    return [f"{match['head']}{i:0{width}d}{match['tail']}" for i in range(int(low), int(high) + 1)]


def _groups(value: Any, file: str) -> list[Any]:
    if not isinstance(value, list):
        raise ClusterError(f"{file}: write at least one [[nodes]] table")
    return value
