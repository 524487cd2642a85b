"""The tables of an idle cluster: nodes, their kinds, and the index of nodes by free GPUs."""

from __future__ import annotations

import numpy as np

from dovetail.compiled.tables import Table, new_table
from dovetail.domain.cluster import Cluster
from dovetail.simulator.kernel import rows
from dovetail.simulator.kernel.state import NO_RESERVATION
from dovetail.simulator.layout import Kind


def node_table(cluster: Cluster, kinds: list[Kind]) -> Table:
    """An idle cluster; every node's release times are still to be worked out."""
    table = new_table(rows.NodeRow, len(cluster.nodes))
    for number, kind in enumerate(kinds):
        table["kind"][kind.nodes] = number
        table["place"][kind.nodes] = np.arange(len(kind.nodes))
        table["gpus"][kind.nodes] = kind.gpus
        table["cpus"][kind.nodes] = kind.cpus
        table["memory"][kind.nodes] = kind.memory
        table["bits"][kind.nodes] = np.uint64((1 << kind.gpus) - 1)
    switches = {name: i for i, name in enumerate(dict.fromkeys(n.switch for n in cluster.nodes))}
    table["switch"] = [switches[node.switch] for node in cluster.nodes]
    table["used_by"] = table["hold"] = -1
    return table


def kind_tables(kinds: list[Kind]) -> tuple[Table, Table]:
    table = new_table(rows.KindRow, len(kinds))
    sizes = np.array([len(kind.nodes) for kind in kinds])
    for what in ("gpus", "cpus", "memory"):
        table[what] = [getattr(kind, what) for kind in kinds]
    table["free"], table["idle"] = table["gpus"] * sizes, sizes
    table["last"] = np.cumsum(sizes)
    table["first"] = table["last"] - sizes
    table["words"] = (sizes + 63) // 64
    table["reserved"] = NO_RESERVATION
    members = new_table(rows.Member, int(sizes.sum()))
    members["node"] = [node for kind in kinds for node in kind.nodes]
    return table, members


def level_tables(kinds: list[Kind], most: int) -> tuple[Table, Table]:
    """The index of nodes by free GPUs, and its bitmaps."""
    levels = new_table(rows.Level, len(kinds) * (most + 1))
    word_count = 0
    for number, kind in enumerate(kinds):
        for gpus in range(kind.gpus + 1):
            levels["word_first"][number * (most + 1) + gpus] = word_count
            word_count += (len(kind.nodes) + 63) // 64
    words = new_table(rows.Bitmap, word_count)
    for number, kind in enumerate(kinds):
        idle = levels[number * (most + 1) + kind.gpus]
        idle["count"] = len(kind.nodes)
        for place in range(len(kind.nodes)):
            words["bits"][idle["word_first"] + place // 64] |= np.uint64(1 << (place % 64))
    return levels, words
