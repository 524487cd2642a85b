"""What the job in hand takes of node sets that others are promised."""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import node, node_set


@inner
def spend(w: World, number: int) -> None:
    """Note that a chunk of the job in hand is to go on a node."""
    node_set(w, node(w, number).node_set).spent += 1


@inner
def forget_spent(w: World) -> None:
    for number in range(w.set_count):
        node_set(w, number).spent = 0
