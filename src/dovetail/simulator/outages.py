"""Tables of what happens to nodes: a cluster without outages and reservations has none."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dovetail.compiled.tables import new_table
from dovetail.domain.outages import OutageState
from dovetail.simulator.build import Tables
from dovetail.simulator.kernel import outage_rows, promise_rows
from dovetail.simulator.kernel import rows as kernel_rows
from dovetail.simulator.kernel.outages import DRAIN, FAIL, RESERVE, RESUME, RETURN
from dovetail.simulator.kernel.parts import OUTAGES
from dovetail.simulator.reserved_nodes import ReservationSite


class Happening(NamedTuple):
    """One event of a node; in order of time, and else as the cluster names them."""

    time: float
    number: int
    node: int
    change: int
    until: float


def add_outages(tables: Tables, origin: float, now: float) -> None:
    """Give a simulation that begins `now` the events of its nodes; `origin` is the time 0 of its
    trace on the cluster's clock."""
    cluster = tables.site.cluster
    if not (cluster.outages or cluster.reservations):
        return
    happenings = sorted(
        Happening(time, number, node, change, until)
        for number, (time, node, change, until) in enumerate(_happenings(tables.site, origin, now))
    )
    jobs = len(tables.runs)
    tables.node_events = new_table(outage_rows.NodeChangeEvent, len(happenings))
    heap = new_table(kernel_rows.Event, 2 * jobs + len(happenings))
    for at, event in enumerate(happenings):
        tables.node_events[at] = (event.node, event.change, event.until)
        heap[at] = (event.time, 3 * jobs + at)  # in order, and so a heap
    tables.pending_events = heap
    begins = [event for event in happenings if event.change == RESERVE]
    tables.closures = new_table(outage_rows.Closure, len(begins))
    for at, event in enumerate(begins):
        tables.closures[at] = (event.node, event.time, event.until)
    tables.holds = new_table(promise_rows.Hold, len(tables.part_table) + len(begins))
    if tables.world["set_count"][0] > 0:
        more = 2 * (len(begins) + len(tables.nodes))
        tables.steps = new_table(promise_rows.Step, len(tables.steps) + more)
        tables.world["steps"] = tables.steps.ctypes.data
    for name in ("node_events", "pending_events", "closures", "holds"):
        tables.world[name] = getattr(tables, name).ctypes.data
    tables.world["pending"] = tables.world["node_events_left"] = len(happenings)
    tables.world["closure_count"] = len(begins)
    tables.world["eventful"] = True
    tables.use(OUTAGES)
    tables.world["requeues"] = cluster.requeues
    _place_parts(tables)
    _keep_closures(tables)


def changing_nodes(site: ReservationSite) -> set[int]:
    """Nodes that are not always there."""
    return {number for closed in site.cluster.closures for number in closed.nodes} | set(site.names)


def _happenings(
    site: ReservationSite, origin: float, now: float
) -> Iterator[tuple[float, int, int, float]]:
    """Time, node, change and end; what began before the simulation begins with it."""
    for outage in site.cluster.outages:
        start, end = max(outage.start - origin, now), outage.end - origin
        change = FAIL if outage.state is OutageState.DOWN else DRAIN
        for number in sorted(outage.nodes) if end > now else ():
            yield start, number, change, 0.0
            if end < math.inf:
                yield end, number, RESUME, 0.0
    for kept in site.cluster.reservations:
        start, end = max(kept.start - origin, now), kept.end - origin
        for number in sorted(kept.nodes) if end > now else ():
            yield start, number, RESERVE, end
            yield end, number, RETURN, 0.0
    for number, start, end in site.closed(origin, now):
        yield start, number, RESERVE, end
        if end < math.inf:
            yield end, number, RETURN, 0.0


def _place_parts(tables: Tables) -> None:
    """A job that starts again takes the places of its own parts again."""
    demands, options = tables.demands, tables.options
    most = np.zeros(len(demands), np.int64)
    for number, mine in enumerate(demands):
        own = options[mine["option_first"] : mine["option_last"]]
        most[number] = np.max(own["many"] + own["few"], initial=0)
    of_job = tables.runs["demand"]
    count = np.where(of_job >= 0, most[of_job], 0)
    tables.runs["part_first"] = np.cumsum(count) - count


def _keep_closures(tables: Tables) -> None:
    """The holds that planning begins with, each node's in order, as `node_space.clear` makes them.

    Reservations of this very moment begin as events.
    """
    last: dict[int, int] = {}
    for at, kept in enumerate(tables.closures[: int(tables.world["closure_count"][0])]):
        number = int(kept["node"])
        tables.holds[at] = (-1, number, kept["begin"], kept["end"])
        if number in last:
            tables.holds["next"][last[number]] = at
        else:
            tables.nodes["hold"][number] = at
        last[number] = at
    if last:
        tables.world["hold_count"] = tables.world["closure_count"]
        tables.world["first_hold"] = tables.closures["begin"][0]
