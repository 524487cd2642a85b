"""Slurm's Fair Tree: users ranked by a walk of the tree of accounts, the most deprived first."""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import account, share

NONE = -1.0
"""Level of nobody; levels are 0 or more."""


@inner
def charge(w: World, row: int, amount: float) -> None:
    """From now on a user is charged so much more in a second; -1: nobody is."""
    if row >= 0:
        _settle(w, row)
        share(w, row).charge += amount


@inner
def _settle(w: World, row: int) -> None:
    mine = share(w, row)
    mine.usage += mine.charge * (w.now - mine.since)
    mine.since = w.now


@inner
def calculate(w: World, half_life: float) -> None:
    """Decay what was used since the last time; work out everybody's level and rank."""
    keep = 2.0 ** (-(w.now - w.last_shares) / half_life)
    for row in range(w.share_count):
        if share(w, row).user:
            _settle(w, row)
            share(w, row).usage *= keep
        else:
            share(w, row).usage = 0.0
    for row in range(w.share_count - 1, 0, -1):
        share(w, share(w, row).parent).usage += share(w, row).usage
    for row in range(1, w.share_count):
        share(w, row).level = _level(w, row)
    for row in range(w.share_count):
        if share(w, row).last > share(w, row).first:
            _sort_children(w, row)
    _rank(w)
    w.last_shares = w.now


@inner
def _level(w: World, row: int) -> float:
    """Shares over use, both as parts of what the siblings have; inf: nothing was used."""
    mine, total = share(w, row), share(w, share(w, row).parent).usage
    if mine.norm < 0.0:
        return math.inf
    if mine.norm == 0.0:
        return 0.0
    if mine.usage == 0.0 or total == 0.0:
        return math.inf
    return mine.norm / (mine.usage / total)


@inner
def _sort_children(w: World, row: int) -> None:
    """By insertion: from one calculation to the next the order hardly changes."""
    first, last = share(w, row).first, share(w, row).last
    for i in range(first + 1, last):
        child, at = share(w, i).order, i
        while at > first and _goes_before(w, child, share(w, at - 1).order):
            share(w, at).order = share(w, at - 1).order
            at -= 1
        share(w, at).order = child


@inner
def _goes_before(w: World, one: int, other: int) -> bool:
    """Higher level first; then users before accounts; then as the site names them."""
    mine, theirs = share(w, one), share(w, other)
    if mine.level != theirs.level:
        return mine.level > theirs.level
    if mine.user != theirs.user:
        return mine.user
    return one < other


@inner
def _rank(w: World) -> None:
    """Walk the tree depth first; a user's factor is its rank over the number of users.

    Who has the level of the one before shares its rank; so does the first child of an account
    that does (as in Slurm's source, which merges no accounts of one level).
    """
    rank = untied = w.share_users
    depth = 0
    _enter(w, 0, 0, False)
    while depth >= 0:
        here = share(w, depth)
        if here.place == here.stop:
            depth -= 1
            continue
        row = share(w, here.place).order
        mine = share(w, row)
        tied = here.tied or here.before == mine.level
        here.place += 1
        here.before, here.tied = mine.level, False
        if mine.user:
            rank = rank if tied else untied
            untied -= 1
            if mine.account >= 0:
                account(w, mine.account).fair_share = rank / w.share_users
                account(w, mine.account).usage = mine.usage
        elif mine.last > mine.first:
            depth += 1
            _enter(w, depth, row, tied)


@inner
def _enter(w: World, depth: int, row: int, tied: bool) -> None:
    """Begin the children of a row; the walk's own state is kept beside the table, by depth."""
    here, mine = share(w, depth), share(w, row)
    here.place, here.stop = mine.first, mine.last
    here.before, here.tied = NONE, tied
