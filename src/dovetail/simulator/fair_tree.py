"""From a cluster's tree of accounts to arrays: who is charged for a job, and how much a second."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail.compiled.tables import Table, new_table
from dovetail.domain.associations import AS_PARENT, ROOT, Association
from dovetail.domain.cluster import Cluster, Partition
from dovetail.domain.distinct import distinct_rows
from dovetail.domain.jobs import Floats, Ints, Jobs, Names
from dovetail.simulator.kernel.account_rows import ShareRow
from dovetail.simulator.kernel.parts import FAIR_TREE
from dovetail.simulator.layout import UNLIMITED, Option

if TYPE_CHECKING:
    from dovetail.simulator.build import Tables


CALC_PERIOD = 300.0
"""Seconds; Slurm's own PriorityCalcPeriod."""

CHARGE_STEPS = 1024
"""Parts in which charges are counted, so that sums of them are exact in any order."""


@dataclass(frozen=True, slots=True)
class ShareTables:
    """The tree as the kernel has it, and whose jobs are whose."""

    shares: Table  # [tree] ShareRow; the root first
    users: int
    period: float  # seconds
    accounts: tuple[int, Ints]  # how many accounts are told apart, and that of each job
    of_job: Ints  # [jobs] row of the tree; -1: none
    cluster: Cluster
    partition: Names  # of each job

    def charges(self, every: list[list[Option]], first: Ints) -> Floats:
        """What a job is charged in a second, for every option of every demand in turn."""
        own = [self.cluster.partitions_named(name) for name in (*self.partition.values, None)]
        parts = [(*found, None)[0] for found in own]  # the first bills; code -1 is the last
        largest = "MAX_TRES" in self.cluster.slurm.get("PriorityFlags", "").upper()
        return np.array(
            [
                charge_of(option_amounts(option), parts[code], largest)
                for options, code in zip(every, self.partition.codes[first].tolist(), strict=True)
                for option in options
            ]
        )


def share_tables(jobs: Jobs, cluster: Cluster) -> ShareTables | None:
    """None where the cluster has no tree, or jobs no users."""
    if not cluster.associations:
        return None
    tree = ordered_tree(cluster.associations)
    table = new_table(ShareRow, len(tree))
    places = {(one.account, one.user): row for row, (one, _) in enumerate(tree)}
    for row, (one, parent) in enumerate(tree):
        table["parent"][row], table["user"][row] = parent, bool(one.user)
    table["order"] = np.arange(len(tree))
    table["norm"] = _norms([one.shares for one, _ in tree], table["parent"])
    table["first"] = np.searchsorted(table["parent"], np.arange(len(tree)), side="left")
    table["last"] = np.searchsorted(table["parent"], np.arange(len(tree)), side="right")
    table["since"] = jobs.submit[0]
    codes = np.column_stack([jobs.account.codes, jobs.user.codes])
    distinct, account = distinct_rows(codes)
    rows = np.array(
        [
            places.get((jobs.account.name(a) or "", jobs.user.name(u) or ""), -1) if u >= 0 else -1
            for a, u in distinct.tolist()
        ]
    )
    table["account"] = -1
    table["account"][rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    return ShareTables(
        table, int(table["user"].sum()), calc_period(cluster), (len(distinct), account),
        rows[account], cluster, jobs.partition,
    )  # fmt: skip


def add_tree(tables: Tables, tree: ShareTables, charges: Floats) -> None:
    """Charge jobs to the users of a tree; `charges`: of each option."""
    tables.accounts["fair_share"] = 0.0  # of those in no tree
    tables.runs["share"] = tree.of_job
    tables.options["charge"][: len(charges)] = charges
    world = tables.world
    tables.use(FAIR_TREE)
    world["share_count"], world["share_users"] = len(tree.shares), tree.users
    world["share_period"], world["last_shares"] = tree.period, -np.inf


def ordered_tree(associations: tuple[Association, ...]) -> list[tuple[Association, int]]:
    """Root, its children, their children ... each with the row of its parent.

    The children of an account that shares as its parent are children of that parent.
    """
    above = {one.account: one for one in associations if not one.user}
    children: dict[str, list[Association]] = {}
    for one in associations:
        parent = one.account if one.user else one.parent
        while parent in above and above[parent].shares == AS_PARENT:
            parent = above[parent].parent
        if one.user or one.shares != AS_PARENT:
            children.setdefault(parent, []).append(one)
    tree = [(Association(ROOT), -1)]
    for row, (one, _) in enumerate(tree):  # grows while it is walked
        if not one.user:
            tree += [(child, row) for child in children.get(one.account, ())]
    return tree


def _norms(shares: list[float], parents: Ints) -> Floats:
    """Shares over those of all siblings; -1: as the parent."""
    own = np.array(shares)
    counted = np.where(own == AS_PARENT, 0.0, own)
    total = np.zeros(len(own) + 1)
    np.add.at(total, parents, counted)  # the root's own is counted at the end, for nobody
    level = total[parents]
    norm = np.divide(counted, level, out=np.zeros(len(own)), where=level > 0)
    return np.where(own == AS_PARENT, -1.0, norm)


def calc_period(cluster: Cluster) -> float:
    """Seconds between two calculations; slurm.conf has minutes."""
    text = cluster.slurm.get("PriorityCalcPeriod", "")
    return 60.0 * int(text) if text.isascii() and text.isdecimal() and int(text) else CALC_PERIOD


def option_amounts(option: Option) -> dict[str, float]:
    """What a job has in an option: CPUs (one on each node at least), GB, GPUs, nodes."""
    gpus, cpus, memory = (
        option.many * large + option.few * small if large < UNLIMITED else 0
        for large, small in zip(option.large, option.small, strict=True)
    )
    return {
        "cpu": cpus / 1000 or option.nodes,
        "memory_gb": memory / 1024,
        "gpu": gpus,
        "node": option.nodes,
    }


def charge_of(amounts: dict[str, float], part: Partition | None, largest: bool) -> float:
    """What these amounts count for in a second; CPUs where the partition says nothing."""
    weights = part.billing if part is not None and part.billing else (("cpu", 1.0),)
    billed = [weight * amounts[what] for what, weight in weights]
    total = max(billed) if largest else sum(billed)
    return math.ceil(total * CHARGE_STEPS) / CHARGE_STEPS
