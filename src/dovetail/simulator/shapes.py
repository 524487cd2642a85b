"""Shapes: what distinct chunks ask of which nodes, as far as it can ever run short there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.compiled.tables import Table, new_table
from dovetail.domain.distinct import distinct_rows
from dovetail.domain.jobs import Bools, Ints
from dovetail.simulator.kernel import reservation_rows
from dovetail.simulator.kernel.allocation import SHAPE_BLOCK
from dovetail.simulator.kernel.calendar import BLOCK, most_blocks
from dovetail.simulator.layout import UNLIMITED, Kind

MOST_WATCHERS, MOST_READY_TIMES = 64, 500_000
"""Calendars, and ready times in all of them together: some 40 MB."""


class ShapeTables(NamedTuple):
    """The tables that count nodes by shape."""

    shapes: Table
    first: Ints  # [kinds] rows of `groups`
    last: Ints
    groups: Table
    of_kind: Table
    shape_blocks: Table
    tallies: Table
    watched: int
    watchers: Table
    ready_times: Table
    blocks: Table
    entries: Table


def shape_tables(options: Table, chunks: Table, kinds: list[Kind]) -> ShapeTables:
    """The shapes of all chunks; options learn theirs."""
    size, sizes = len(options), np.array([len(kind.nodes) for kind in kinds])
    masks = np.column_stack((options["large_kinds"], options["small_kinds"])).ravel()
    asked = np.column_stack([chunks[what] for what in ("gpus", "cpus", "memory")])
    for at, what in ((1, "cpus"), (2, "memory")):
        asked[:, at] *= _runs_short(asked[:, 0], asked[:, at], masks, kinds, what)
    used = masks != 0  # small chunks that there are none of ask nobody
    found, number = distinct_rows(np.column_stack((asked, masks))[used])
    of_chunk = np.full(2 * size, -1)
    of_chunk[used] = number
    options["large_shape"], options["small_shape"] = of_chunk[::2], of_chunk[1::2]
    shapes = new_table(reservation_rows.ChunkShape, len(found))
    columns = found if len(found) else np.zeros((1, 4), np.int64)
    shapes["gpus"], shapes["cpus"], shapes["memory"], shapes["kinds"] = columns.T
    shapes["free"] = [_allowed(mask, sizes).sum() for mask in shapes["kinds"].tolist()]
    shapes["watcher"] = -1
    tallies = new_table(reservation_rows.Tally, len(kinds) * len(shapes))
    first, last, groups, of_kind = _by_kind(shapes, len(kinds))
    blocks = _blocks(shapes, of_kind)
    watchers = _watchers(len(shapes), int(sizes.sum()))
    return ShapeTables(shapes, first, last, groups, of_kind, blocks, tallies, *watchers)


def _blocks(shapes: Table, of_kind: Table) -> Table:
    """Every so many neighbours; shapes learn theirs if no other kind counts them, too."""
    blocks = new_table(reservation_rows.ShapeBlock, len(of_kind) // SHAPE_BLOCK + 1)
    shapes["block"] = -1
    own = of_kind["shape"]
    alone = np.bincount(own, minlength=len(shapes))[own] == 1
    for number in range(len(of_kind) // SHAPE_BLOCK):
        part = slice(number * SHAPE_BLOCK, (number + 1) * SHAPE_BLOCK)
        if alone[part].all():
            blocks["alone"][number] = True
            shapes["block"][own[part]] = number
    return blocks


def _runs_short(gpus: Ints, asked: Ints, masks: Ints, kinds: list[Kind], what: str) -> Bools:
    """Per chunk, whether a resource can run short on any of the nodes that it may use.

    It cannot where even a node full of the chunks that ask for most of it per GPU has enough:
    their GPUs run short first.
    """
    short = 0
    for number, kind in enumerate(kinds):
        here, whole = masks >> number & 1 > 0, getattr(kind, what)
        binds = np.where(gpus > 0, asked * kind.gpus > whole * gpus, asked > 0)
        if whole < UNLIMITED and np.any(binds & here):
            short |= 1 << number
    return masks & short != 0


def _allowed(mask: int, sizes: Ints) -> Ints:
    return sizes * (mask >> np.arange(len(sizes)) & 1)


def _by_kind(shapes: Table, kinds: int) -> tuple[Ints, Ints, Table, Table]:
    """The shapes that may use each kind, in groups; they are in order."""
    lists = [np.flatnonzero(shapes["kinds"] >> number & 1) for number in range(kinds)]
    groups: list[tuple[int, int, int, int]] = []
    last = []
    of_kind = new_table(reservation_rows.KindShape, sum(map(len, lists)))
    place = 0
    for part in lists:
        for gpus, cpus in dict.fromkeys(shapes[["gpus", "cpus"]][part].tolist()):
            same = part[(shapes["gpus"][part] == gpus) & (shapes["cpus"][part] == cpus)]
            first, place = place, place + len(same)
            groups.append((gpus, cpus, first, place))
            of_kind["shape"][first:place] = same
            of_kind["memory"][first:place] = shapes["memory"][same]
        last.append(len(groups))
    table = new_table(reservation_rows.ShapeGroup, len(groups))
    table[: len(groups)] = groups
    return np.array([0, *last[:-1]]), np.array(last), table, of_kind


def _watchers(shapes: int, nodes: int) -> tuple[int, Table, Table, Table, Table]:
    """Calendars for the shapes that are blocked most."""
    count = min(shapes, max(2, min(MOST_WATCHERS, MOST_READY_TIMES // nodes)))
    limit = most_blocks(nodes)
    watchers = new_table(reservation_rows.Watcher, count)
    watchers["shape"] = -1
    watchers["block_limit"] = limit
    watchers["calendar"] = np.arange(count) * limit
    blocks = new_table(reservation_rows.Block, count * limit)
    blocks["place"] = np.arange(len(blocks)) * BLOCK
    entries = new_table(reservation_rows.Entry, len(blocks) * BLOCK)
    return count, watchers, new_table(reservation_rows.ReadyTime, count * nodes), blocks, entries
