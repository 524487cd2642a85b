"""Debug mode: what must be true after every event, checked against the tables themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import DovetailError
from dovetail.simulator.build import Tables
from dovetail.simulator.layout import whole


class BrokenInvariant(DovetailError):  # noqa: N818 - reads as what happened
    """The simulator contradicts itself: a bug in Dovetail, please report it with the trace."""


def check(tables: Tables) -> None:
    """Raise if anything is over-allocated, split, early, delayed or wrongly indexed."""
    world, cluster = tables.world[0], tables.site.cluster
    moment = f"at {world['now']:.0f} s: "
    for problem, broken in (
        ("a job started before its submission", _early(tables)),
        ("a job holds fewer or more GPUs than it asked for", _split(tables)),
        ("a node's GPUs, CPUs or memory do not add up", _unbalanced(tables, cluster)),
        ("two jobs hold the same GPU", _double_booked(tables, cluster)),
        ("the index of free GPUs is wrong", _misindexed(tables)),
        ("nodes with room for a chunk are counted wrong", _miscounted(tables)),
        ("backfilling delayed a reserved job", bool(world["delayed"])),
        ("more is promised than a node has", _overpromised(tables)),
    ):
        if broken:
            raise BrokenInvariant(moment + problem)


def _early(tables: Tables) -> bool:
    return bool(np.any(tables.runs["start"] < tables.jobs["submit"]))


def _split(tables: Tables) -> bool:
    started = tables.runs[np.isfinite(tables.runs["start"])]
    held = _popcount(tables.part_table["gpus"])
    totals = np.concatenate(([0], np.cumsum(held)))
    first, last = started["part_first"], started["part_first"] + started["part_count"]
    ran = np.isfinite(tables.runs["start"])
    got, asked = totals[last] - totals[first], tables.jobs["gpus"][ran]
    whole = tables.exclusive[ran]
    return bool(np.any((got < asked) | (got != asked) & ~whole))


def _unbalanced(tables: Tables, cluster: Cluster) -> bool:
    slots = _slots(tables)
    used = np.arange(slots.shape[1]) < tables.nodes["running"][:, None]
    capacity = {
        "gpus": [node.gpus for node in cluster.nodes],
        "cpus": [whole(node.cpus, 1000) for node in cluster.nodes],
        "memory": [whole(node.memory_gb, 1024) for node in cluster.nodes],
    }
    closed = tables.nodes["closed"]  # nothing of these counts as free
    for what, full in capacity.items():
        free, left = tables.nodes[what], np.array(full) - np.sum(slots[what] * used, axis=1)
        if np.any(free != np.where(closed, 0, left)) or np.any(left < 0):
            return True
    return False


def _double_booked(tables: Tables, cluster: Cluster) -> bool:
    taken = tables.nodes["bits"].copy()
    for number in range(len(taken)):
        for job in _slots(tables)["job"][number, : tables.nodes["running"][number]]:
            run = tables.runs[job]
            parts = tables.part_table[run["part_first"] : run["part_first"] + run["part_count"]]
            held = np.bitwise_or.reduce(parts["gpus"][parts["node"] == number])
            if taken[number] & held:
                return True
            taken[number] |= held
    full = np.array([(1 << node.gpus) - 1 for node in cluster.nodes], np.uint64)
    return bool(np.any(taken != full))


def _overpromised(tables: Tables) -> bool:
    """Whether promises and running jobs together take more than there is, now or later.

    Between an overrun and the next pass nothing can be said: there promises are made anew.
    """
    world = tables.world[0]
    if world["set_count"] == 0 or world["extended"] or world["eventful"]:
        return False  # on a closed node less than nothing is left
    for number in tables.node_sets["first"]:
        while number >= 0:
            step = tables.steps[number]
            if min(step["gpus"], step["cpus"], step["memory"]) < 0:
                return True
            number = step["next"]
    return False


def _misindexed(tables: Tables) -> bool:
    counts = np.zeros(len(tables.levels), np.int64)
    rows = tables.nodes["kind"] * (tables.world["most_gpus"][0] + 1) + tables.nodes["gpus"]
    np.add.at(counts, rows, 1)
    free = np.where(tables.nodes["closed"], 0, _popcount(tables.nodes["bits"]))
    wrong_bits = np.any(free != tables.nodes["gpus"])
    wrong_total = tables.world["free_gpus"][0] != tables.nodes["gpus"].sum()
    return bool(np.any(counts != tables.levels["count"]) or wrong_bits or wrong_total)


def _miscounted(tables: Tables) -> bool:
    for shape in tables.shapes[: tables.world["shape_count"][0]]:
        room = shape["kinds"] >> tables.nodes["kind"] & 1 > 0
        for what in ("gpus", "cpus", "memory"):
            room &= tables.nodes[what] >= shape[what]
        beside = tables.shape_blocks["free"][shape["block"]] if shape["block"] >= 0 else 0
        if room.sum() != shape["free"] + beside:
            return True
    unused = (tables.nodes["running"] == 0) & ~tables.nodes["closed"]
    idle = np.bincount(tables.nodes["kind"][unused])
    idle.resize(len(tables.kinds), refcheck=False)
    return bool(np.any(idle != tables.kinds["idle"]))


def _slots(tables: Tables) -> Any:
    count, most = len(tables.nodes), tables.world["most_slots"][0]
    return tables.slots[: count * most].reshape(count, most)


def _popcount(words: Any) -> Any:
    return np.bitwise_count(words).astype(np.int64)
