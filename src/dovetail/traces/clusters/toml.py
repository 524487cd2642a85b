"""A cluster as the TOML text that `domain.cluster_toml` reads back to an equal cluster."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

from dovetail.domain.access import ACCESS_KEYS, Access
from dovetail.domain.associations import AS_PARENT, ROOT, Association
from dovetail.domain.cluster import Cluster, Node
from dovetail.domain.limits import Limit
from dovetail.domain.outages import NodeReservation, Outage
from dovetail.slurm.host_lists import compress

_BARE = re.compile(r"^[A-Za-z0-9_-]+$")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def cluster_to_toml(cluster: Cluster) -> str:
    """Equal neighbours share a [[nodes]] table, names of consecutive numbers a range."""
    lines = [f"name = {quote(cluster.name)}", ""]
    for _, group in groupby(cluster.nodes, key=lambda node: replace(node, name="")):
        nodes = list(group)
        for pattern, _ in compress([node.name for node in nodes]):
            lines += _node_table(pattern, nodes[0])
    for part in cluster.partitions:
        members = [cluster.nodes[index].name for index in sorted(part.nodes)]
        patterns = ", ".join(quote(pattern) for pattern, _ in compress(members))
        lines += [
            f"[partitions.{_key(part.name)}]",
            f"nodes = [{patterns}]",
            f"priority = {_number(part.priority)}",
            *([f"tier = {part.tier}"] if part.tier != 1 else []),
            *(["exclusive = true"] if part.exclusive else []),
            *_billing(part.billing),
            *_default_time(part.default_minutes),
            *_access(part.access),
            "",
        ]
    lines += _numbers("speed", cluster.speed)
    lines += _numbers("qos", cluster.qos)
    for kind, speeds in cluster.kind_speed.items():
        lines += _numbers(f"kind_speed.{_key(kind)}", speeds)
    for limit in cluster.limits:
        lines += _limit_table(limit)
    for association in cluster.associations:
        lines += _association_table(association)
    lines += _numbers("licenses", cluster.licenses)
    for closed in cluster.closures:
        lines += _closed_table(closed, cluster)
    if cluster.slurm:
        lines += ["[slurm]", *(f"{name} = {quote(v)}" for name, v in cluster.slurm.items()), ""]
    return "\n".join(lines)


def quote(text: str) -> str:
    """A TOML basic string; names come from strangers and may hold anything."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    control = ord(character) < 0x20 or ord(character) == 0x7F
    return f"\\u{ord(character):04x}" if control else character


def _node_table(pattern: str, node: Node) -> list[str]:
    lines = ["[[nodes]]", f"name = {quote(pattern)}", f"gpus = {node.gpus}"]
    lines.append(f"type = {quote(node.gpu_type)}")
    if math.isfinite(node.cpus):
        lines.append(f"cpus = {_number(node.cpus)}")
    if math.isfinite(node.memory_gb):
        lines.append(f"memory_gb = {_number(node.memory_gb)}")
    lines.append(f"switch = {quote(node.switch)}")
    if node.mig:
        lines.append(f"mig = {list(node.mig)}")
    if node.features:
        lines.append(f"features = [{', '.join(map(quote, node.features))}]")
    return [*lines, ""]


def _limit_table(limit: Limit) -> list[str]:
    lines = ["[[limits]]"]
    for key in ("users", "accounts", "qos", "partitions"):
        names = getattr(limit, key)
        if names:
            lines.append(f"{key} = [{', '.join(map(quote, names))}]")
    lines.append(f"each = {quote(limit.each.value)}")
    return [*lines, *(f"{name} = {_number(most)}" for name, most in limit.amounts.items()), ""]


def _billing(weights: tuple[tuple[str, float], ...]) -> list[str]:
    told = ", ".join(f"{_key(what)} = {_number(weight)}" for what, weight in weights)
    return [f"billing = {{ {told} }}"] if weights else []


def _default_time(minutes: float) -> list[str]:
    return [f"default_minutes = {_number(minutes)}"] if math.isfinite(minutes) else []


def _access(who: Access) -> list[str]:
    told = {key: getattr(who, key) for key in ACCESS_KEYS}
    return [f"{key} = [{', '.join(map(quote, names))}]" for key, names in told.items() if names]


def _association_table(one: Association) -> list[str]:
    lines = ["[[associations]]", f"account = {quote(one.account)}"]
    if one.user:
        lines.append(f"user = {quote(one.user)}")
    if one.parent != ROOT:
        lines.append(f"parent = {quote(one.parent)}")
    shares = quote("parent") if one.shares == AS_PARENT else _number(one.shares)
    return [*lines, f"shares = {shares}", ""]


def _closed_table(closed: Outage | NodeReservation, cluster: Cluster) -> list[str]:
    members = [cluster.nodes[index].name for index in sorted(closed.nodes)]
    patterns = ", ".join(quote(pattern) for pattern, _ in compress(members))
    lines = [f"nodes = [{patterns}]", f"start = {_number(closed.start)}"]
    if math.isfinite(closed.end):
        lines.append(f"end = {_number(closed.end)}")
    if isinstance(closed, NodeReservation):
        who = _access(closed.access)
        return ["[[reservations]]", f"name = {quote(closed.name)}", *lines, *who, ""]
    lines.append(f"state = {quote(closed.state.value)}")
    if closed.reason:
        lines.append(f"reason = {quote(closed.reason)}")
    return ["[[outages]]", *lines, ""]


def _numbers(name: str, table: Mapping[str, float]) -> list[str]:
    if not table:
        return []
    return [f"[{name}]", *(f"{_key(key)} = {_number(v)}" for key, v in table.items()), ""]


def _key(name: str) -> str:
    return name if _BARE.match(name) else quote(name)


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(value)
