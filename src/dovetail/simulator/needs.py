"""Needs of options, in chains in which each asks for no less than the one before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.compiled.tables import Table, new_table
from dovetail.domain.distinct import distinct_rows
from dovetail.domain.jobs import Ints
from dovetail.simulator.kernel import queue_rows


class NeedTables(NamedTuple):
    """The tables that say what waiting jobs need."""

    needs: Table
    chains: Table
    words: Table
    chain_count: int


def need_tables(options: Table, shapes: Table) -> NeedTables:
    """The needs of all options; options learn theirs."""
    if len(options) == 0 or options["large_shape"].max() < 0:
        empty = new_table(queue_rows.Need, 0), new_table(queue_rows.NeedChain, 0)
        return NeedTables(*empty, new_table(queue_rows.NeedWord, 0), 0)
    asked = np.column_stack((options["large_shape"], options["many"]))
    found, of_option = distinct_rows(asked)
    amounts = np.column_stack(
        [shapes[what][found[:, 0]] for what in ("kinds", "gpus", "cpus", "memory")] + [found[:, 1]]
    )
    chain = _chains(amounts)
    order = np.lexsort((*amounts.T[::-1], chain))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    options["need"] = place[of_option]
    needs = new_table(queue_rows.Need, len(found))
    needs["shape"], needs["nodes"] = found[order].T
    needs["chain"], needs["option"] = chain[order], -1
    sizes = np.bincount(chain)
    chains = new_table(queue_rows.NeedChain, len(sizes))
    chains["first"] = np.cumsum(sizes) - sizes
    chains["words"] = (sizes + 63) // 64
    chains["word_first"] = np.cumsum(chains["words"]) - chains["words"]
    return NeedTables(
        needs, chains, new_table(queue_rows.NeedWord, int(chains["words"].sum())), len(sizes)
    )


def _chains(amounts: Ints) -> Ints:
    """The chain of each need: that with the largest end that asks for no more, or a new one.

    Only needs on the same kinds of nodes can be compared. Of n needs at random in two
    amounts, chains are about as many as the square root of n.
    """
    chain = np.empty(len(amounts), np.int64)
    ends = np.empty((0, amounts.shape[1]), np.int64)
    for at in np.lexsort(amounts.T[::-1]).tolist():
        mine = amounts[at]
        able = np.flatnonzero((ends[:, 0] == mine[0]) & np.all(ends[:, 1:] <= mine[1:], axis=1))
        if len(able):
            chain[at] = able[np.lexsort(ends[able].T[1:])[-1]]
            ends[chain[at]] = mine
        else:
            chain[at] = len(ends)
            ends = np.vstack((ends, mine))
    return chain
