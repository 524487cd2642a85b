"""Rows about nodes that are not there for a while."""

from __future__ import annotations

from dovetail.compiled.tables import Row


class NodeChangeEvent(Row):
    """Something that happens to a node, as an event of its own."""

    node: int
    change: int  # one of outages.FAIL, DRAIN, RESUME, RESERVE, RETURN
    until: float  # of a reservation


class Closure(Row):
    """A node that a reservation will take over [begin, end); in order of their begins."""

    node: int
    begin: float
    end: float
