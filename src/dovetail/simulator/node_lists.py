"""Lists of nodes that jobs ask for or rule out, as far as kinds of nodes can tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ClusterError
from dovetail.domain.jobs import UNKNOWN, Bools, Jobs, Names
from dovetail.simulator.layout import MAX_KINDS, kinds_of
from dovetail.simulator.reserved_nodes import ReservationSite
from dovetail.slurm.host_lists import host_list, hosts_of


class NodeLists(NamedTuple):
    """Jobs whose lists have one spelling each, and the nodes behind it."""

    jobs: Jobs
    nodes: dict[str, frozenset[int]]
    left_out: int = 0  # jobs with a list that would make too many kinds of nodes
    strange: int = 0  # jobs that ask for nodes none of which there is


def settle_lists(site: ReservationSite) -> NodeLists:
    """Equal lists under one name, without nodes that there are not; those that will not do, gone.

    Each list splits kinds of nodes. Where there would be too many, lists of more jobs go first.
    """
    jobs, cluster = site.jobs, site.cluster
    if not (jobs.nodelist.values or jobs.exclude.values):
        return NodeLists(jobs, {})
    number = {node.name: index for index, node in enumerate(cluster.nodes)}
    lists: dict[str, frozenset[int]] = {}
    spelled = {
        text: _spell(text, number, cluster, lists)
        for text in (*jobs.nodelist.values, *jobs.exclude.values)
    }
    asked, excluded = _renamed(jobs.nodelist, spelled), _renamed(jobs.exclude, spelled)
    uses = _uses(asked) + _uses(excluded)
    named = {text: _with_reserved(site, lists[text]) for text, _ in uses.most_common()}
    nodes = _told_apart(site, named)
    kept = {text: text if text in nodes else None for text in lists}
    found = replace(jobs, nodelist=_renamed(asked, kept), exclude=_renamed(excluded, kept))
    gone = _lost(asked, found.nodelist) | _lost(excluded, found.exclude)
    return NodeLists(found, nodes, int(gone.sum()), int(_lost(jobs.nodelist, asked).sum()))


def _spell(
    text: str, number: Mapping[str, int], cluster: Cluster, lists: dict[str, frozenset[int]]
) -> str | None:
    """The list in words that are the same for the same nodes; None: no node of this cluster."""
    try:
        nodes = frozenset(number[name] for name in hosts_of(text) if name in number)
    except ClusterError:  # Slurm has read it, but as something else
        return None
    if not nodes:
        return None
    name = host_list([cluster.nodes[index].name for index in sorted(nodes)])
    lists[name] = nodes
    return name


def _renamed(names: Names, other: Mapping[str, str | None]) -> Names:
    """The same column in other words; None: nothing is said."""
    values = {name: None for value in names.values if (name := other[value]) is not None}
    code = {name: number for number, name in enumerate(values)}
    codes = [
        code[name] if (name := other[value]) is not None else UNKNOWN for value in names.values
    ]
    return Names(np.array([*codes, UNKNOWN], np.int64)[names.codes], tuple(values))


def _uses(names: Names) -> Counter[str]:
    """How many jobs have each list."""
    counts = np.bincount(names.codes[names.codes != UNKNOWN], minlength=len(names.values))
    return Counter(dict(zip(names.values, counts.tolist(), strict=True)))


def _lost(before: Names, after: Names) -> Bools:
    lost: Bools = (before.codes != UNKNOWN) & (after.codes == UNKNOWN)
    return lost


def _with_reserved(site: ReservationSite, nodes: frozenset[int]) -> frozenset[int]:
    """A node by its name is meant however it is reserved."""
    if not site.reserved:
        return nodes
    return frozenset(index for index, real in enumerate(site.real.tolist()) if real in nodes)


def _told_apart(
    site: ReservationSite, lists: Mapping[str, frozenset[int]]
) -> dict[str, frozenset[int]]:
    """Those lists, the first ones first, with which there are not too many kinds of nodes."""
    kinds = kinds_of(site.cluster, reserved=site.names)
    of_node = np.zeros(len(site.cluster.nodes), np.int64)
    for number, kind in enumerate(kinds):
        of_node[kind.nodes] = number
    count, kept = len(kinds), {}
    for text, nodes in lists.items():
        members = np.array(sorted(nodes))
        inside = np.bincount(of_node[members], minlength=count)
        split = np.flatnonzero((inside > 0) & (inside < np.bincount(of_node, minlength=count)))
        if count + len(split) > MAX_KINDS:
            continue
        for old in split.tolist():
            of_node[members[of_node[members] == old]] = count
            count += 1
        kept[text] = nodes
    return kept
