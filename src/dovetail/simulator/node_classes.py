"""The tables that a placement with a rank function needs, beside those of every simulation."""

from __future__ import annotations

from dovetail.compiled.tables import new_table
from dovetail.domain.node_classes import CLASSES, NodeClassFacts
from dovetail.domain.policy import Placement
from dovetail.simulator.build import Tables
from dovetail.simulator.kernel.node_classes import KEYS, ClassSlot
from dovetail.simulator.kernel.parts import RANKED


def add_node_classes(tables: Tables) -> None:
    """Room for classes of nodes; whoever does not look at them does not pay for it."""
    tables.node_classes = new_table(NodeClassFacts, CLASSES)
    tables.class_slots = new_table(ClassSlot, len(tables.levels) * KEYS)
    for name in ("node_classes", "class_slots"):
        tables.world[name] = getattr(tables, name).ctypes.data


def rank_nodes(tables: Tables, placement: Placement) -> None:
    """Let a placement that ranks classes of nodes be asked."""
    if placement.rank is not None:
        add_node_classes(tables)
        tables.world["ranker"] = placement.rank.address
        tables.use(RANKED)
