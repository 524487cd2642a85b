"""Tables for conservative backfilling: the node sets that promises are made on."""

from __future__ import annotations

import numpy as np

from dovetail.compiled.tables import Table, new_table
from dovetail.domain.distinct import distinct_rows
from dovetail.domain.jobs import Ints
from dovetail.simulator.build import Tables
from dovetail.simulator.kernel import promise_rows
from dovetail.simulator.kernel.claims import GAIN_LOG
from dovetail.simulator.kernel.overlap import SLOTS
from dovetail.simulator.kernel.parts import PROMISES
from dovetail.simulator.kernel.promises import NO_PROMISE
from dovetail.simulator.kernel.rooms import CHANGE_LOG
from dovetail.simulator.layout import UNLIMITED

TABLES = (
    "node_sets",
    "steps",
    "promises",
    "claims",
    "gain_log",
    "claimants",
    "first_rooms",
    "last_rooms",
    "room_gaps",
    "first_ends",
    "second_rooms",
    "gained_at",
    "gains_by",
    "slot_counts",
    "changed_at",
    "changed_sets",
    "rooms_known",
    "rooms_seen",
    "gain_bounds",
    "line",
    "begins",
)
"""What only promises need."""


def add_promises(tables: Tables, changing: set[int]) -> None:
    """Give a simulation what conservative backfilling needs; others do not pay for it.

    Nodes that are not always there (`changing`) are sets of their own: whoever counts on one has
    to name it.
    """
    sets = _node_sets(tables, sorted(changing))
    parts = len(tables.part_table)
    tables.node_sets = sets
    tables.steps = new_table(promise_rows.Step, 2 * parts + 3 * len(sets))
    tables.promises = new_table(promise_rows.Promise, len(tables.runs))
    tables.promises["time"], tables.promises["claim"] = NO_PROMISE, -1
    tables.claims = new_table(promise_rows.Claim, parts)
    tables.gain_log = new_table(promise_rows.Gain, GAIN_LOG)
    sizes = int(tables.world["most_gpus"][0]) + 1
    tables.first_rooms, tables.last_rooms, tables.room_gaps = np.zeros((3, sizes * len(sets)))
    tables.first_ends, tables.second_rooms = np.zeros((2, sizes * len(sets)))
    tables.rooms_known = np.zeros(sizes * len(sets), np.int64)
    tables.rooms_seen = np.full(sizes, -CHANGE_LOG)
    tables.changed_at = np.zeros(len(sets), np.int64)
    tables.changed_sets = np.zeros(CHANGE_LOG, np.int64)
    tables.world["set_changes"] = 1
    tables.gains_by = np.zeros(sizes, np.int64)
    tables.slot_counts = np.zeros(SLOTS + 1, np.int64)
    tables.claimants, tables.gained_at = np.full((2, len(sets)), -1)
    tables.begins = np.zeros(len(sets))
    tables.line = np.zeros(len(tables.runs), np.int64)
    tables.promises["bound"], bounds = _bounds(tables)
    tables.gain_bounds = new_table(promise_rows.GainBound, bounds)
    tables.gain_bounds["first"] = NO_GAIN
    for name in TABLES:
        tables.world[name] = getattr(tables, name).ctypes.data
    tables.world["set_count"] = len(sets)
    tables.use(PROMISES)
    tables.world["next_promise"] = NO_PROMISE
    tables.world["extended"] = True


NO_GAIN = 2**62
"""Later than any: nothing is known yet of what has got room back."""


def _bounds(tables: Tables) -> tuple[Ints, int]:
    """For each job the number of its chunk and length, and how many there are.

    -1: a job that has several ways to run, chunks of two sizes, or none at all.
    """
    demand = tables.runs["demand"]
    first, number = tables.demands["option_first"][demand], np.full(len(demand), -1)
    one = (demand >= 0) & (tables.demands["option_last"][demand] == first + 1)
    one[one] &= tables.options["few"][first[one]] == 0
    length = tables.jobs["reserve"][one] / tables.options["speed"][first[one]]
    asked = np.column_stack((tables.options["large_shape"][first[one]], length))
    distinct, number[one] = distinct_rows(asked)
    return number, len(distinct)


def _node_sets(tables: Tables, changing: list[int]) -> Table:
    """Numbered by their first nodes, which number the sets of the nodes too."""
    group = _interchangeable(tables)
    of_node = tables.nodes["kind"].copy()
    alone = group[of_node] < 0
    alone[changing] = True
    of_node = np.where(alone, len(group) + np.arange(len(of_node)), group[of_node])
    _, first, tables.nodes["node_set"] = _numbered(of_node)
    sets = new_table(promise_rows.NodeSet, len(first))
    np.bitwise_or.at(sets["kinds"], tables.nodes["node_set"], np.int64(1) << tables.nodes["kind"])
    np.add.at(sets["chunks"], tables.nodes["node_set"], 1)
    np.add.at(sets["gpus"], tables.nodes["node_set"], tables.nodes["gpus"])
    one = sets["chunks"] == 1
    for what in ("cpus", "memory"):
        sets[what] = np.where(one, tables.nodes[what][first], UNLIMITED)
    return sets


def _numbered(values: Ints) -> tuple[Ints, Ints, Ints]:
    """Distinct values in order of their first places, these places, and the number of each."""
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return distinct[order], first[order], rank[inverse]


def _interchangeable(tables: Tables) -> Ints:
    """Per kind, the first kind that every option treats alike; -1: its nodes are shared by jobs."""
    asked = np.zeros(len(tables.options), np.bool_)
    for number in np.unique(tables.runs["demand"][tables.runs["demand"] >= 0]):
        mine = tables.demands[number]
        asked[mine["option_first"] : mine["option_last"]] = True
    large = np.where(asked, tables.options["large_kinds"], 0)
    small = np.where(asked, tables.options["small_kinds"], 0)
    gpus = tables.chunks["gpus"]
    group = np.full(len(tables.kinds), -1)
    known: dict[bytes, int] = {}
    for number, whole in enumerate(tables.kinds["gpus"]):
        here, partly = np.flatnonzero(large >> number & 1), np.flatnonzero(small >> number & 1)
        if whole > 0 and np.all(gpus[2 * here] == whole) and np.all(gpus[2 * partly + 1] == whole):
            group[number] = known.setdefault(here.tobytes(), number)
    return group
