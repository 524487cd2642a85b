"""From a cluster and jobs to arrays: kinds of nodes, demands, shapes and options."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.constraints import meets
from dovetail.domain.errors import ClusterError
from dovetail.domain.jobs import UNKNOWN, Bools, Ints, Jobs, Names
from dovetail.domain.policy import Placement
from dovetail.simulator.limits import Asked, LimitLayout, layout_limits
from dovetail.simulator.partition_access import not_let_in
from dovetail.simulator.rejections import (
    ASKS_MIG,
    NOT_LET_IN,
    OVER_LIMIT,
    REASONS,
    TOO_LONG,
    UNDER_LIMIT,
    reason_of,
)

UNLIMITED = 10**15
"""Milli-CPUs or MB of a node that does not say; never binds."""

MAX_KINDS = 63
"""Sets of kinds are the bits of one signed word."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Nodes that differ in name and switch only, and are in the same lists."""

    gpu_type: str
    gpus: int
    cpus: int
    memory: int
    partitions: tuple[str, ...]
    features: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()  # of nodes that jobs name, in which its nodes are
    reservation: str | None = None  # only for jobs that ask for it
    nodes: list[int] = field(default_factory=list, compare=False, hash=False)

    def holds(self, chunk: tuple[int, int, int]) -> bool:
        """Whether an empty node of this kind can host the chunk."""
        if chunk[0] == 0 and self.cpus == UNLIMITED:  # or jobs without GPUs would never wait
            return False
        return chunk[0] <= self.gpus and chunk[1] <= self.cpus and chunk[2] <= self.memory

    @property
    def all(self) -> tuple[int, int, int]:
        """The chunk that takes a whole node."""
        return self.gpus, self.cpus, self.memory

    @property
    def model(self) -> Kind:
        """What it is to jobs that name no nodes."""
        return replace(self, lists=())


@dataclass(frozen=True, slots=True)
class Option:
    """One way to run a demand: a pool of nodes and the chunks that the job splits into there."""

    rank: int
    pool: int
    many: int
    large: tuple[int, int, int]
    few: int
    small: tuple[int, int, int]
    large_kinds: int
    small_kinds: int
    speed: float

    @property
    def nodes(self) -> int:
        return self.many + self.few

    @property
    def gpus(self) -> int:
        return self.many * self.large[0] + self.few * self.small[0]


def kinds_of(
    cluster: Cluster,
    lists: Mapping[str, frozenset[int]] | None = None,
    reserved: Mapping[int, str] | None = None,
) -> list[Kind]:
    """The kinds of nodes, in order of their first node; `lists` of nodes and nodes `reserved` for
    some jobs are told apart."""
    kept = reserved or {}
    kinds: dict[tuple[Any, ...], Kind] = {}
    parts: list[list[str]] = [[] for _ in cluster.nodes]
    for part in cluster.partitions:
        for index in part.nodes:
            parts[index].append(part.name)
    named: list[list[str]] = [[] for _ in cluster.nodes]
    for text, members in (lists or {}).items():
        for index in members:
            named[index].append(text)
    for index, node in enumerate(cluster.nodes):
        key = (
            node.gpu_type, node.gpus, node.cpus, node.memory_gb, node.features,
            tuple(parts[index]), tuple(named[index]), kept.get(index),
        )  # fmt: skip
        if key not in kinds:
            kinds[key] = Kind(
                node.gpu_type,
                node.gpus,
                whole(node.cpus, 1000),
                whole(node.memory_gb, 1024),
                tuple(parts[index]),
                node.features,
                tuple(named[index]),
                kept.get(index),
            )
        kinds[key].nodes.append(index)
    if len(kinds) > MAX_KINDS:
        raise ClusterError(
            f"{cluster.name}: {len(kinds)} kinds of nodes, at most {MAX_KINDS}; give nodes that "
            "hardly differ the same CPUs and memory"
        )
    return list(kinds.values())


def whole(amount: float, factor: int) -> int:
    """A node's amount in whole small units; unlimited stays unlimited."""
    return UNLIMITED if math.isinf(amount) else min(UNLIMITED, int(amount * factor))


@dataclass(frozen=True, slots=True)
class Ask:
    """The part of a job that decides where it can run."""

    gpus: int
    nodes: int
    cpus: int
    memory: int
    gpu_type: str | None
    partition: str | None
    kind: str | None
    exclusive: bool
    constraint: str | None
    nodelist: str | None
    exclude: str | None
    reservation: str | None

    def chunk(self, gpus: int) -> tuple[int, int, int]:
        """A chunk of so many GPUs with its part of CPUs and memory, rounded up.

        Without GPUs all chunks of a job are alike.
        """
        part, whole = (gpus, self.gpus) if self.gpus else (1, max(1, self.nodes))
        return gpus, -(-self.cpus * part // whole), -(-self.memory * part // whole)

    def split(self, per_node: int) -> tuple[int, int, int, int] | None:
        """(many, large, few, small) on nodes with `per_node` GPUs; None if it cannot be."""
        if self.nodes:
            small, many = divmod(self.gpus, self.nodes)
            if many == 0:
                return (self.nodes, small, 0, 0) if small <= per_node else None
            return (many, small + 1, self.nodes - many, small) if small < per_node else None
        if self.gpus <= per_node:
            return 1, self.gpus, 0, 0
        many, small = divmod(self.gpus, per_node)
        return many, per_node, int(small > 0), small


def options_of(ask: Ask, cluster: Cluster, kinds: list[Kind], placement: Placement) -> list[Option]:
    """Every way to run the demand, in group order; empty if there is none."""
    types = None if ask.gpu_type is None else ask.gpu_type.split("|")
    inside = {part.name for part in cluster.partitions_named(ask.partition)}
    anywhere = not cluster.partitions or ask.partition is None
    allowed = [
        kind
        for kind in kinds
        if kind.reservation == ask.reservation
        and (types is None or kind.gpu_type in types)
        and (anywhere or not inside.isdisjoint(kind.partitions))
        and (ask.constraint is None or meets(ask.constraint, kind.features))
        and (ask.nodelist is None or ask.nodelist in kind.lists)
        and (ask.exclude is None or ask.exclude not in kind.lists)
    ]
    if ask.gpus == 0:  # GPUs, and so pools, do not matter
        ways = _ways(ask, (max(1, ask.nodes), 0, 0, 0), allowed)
        return _options(ways, kinds, rank=0, pool=0, speed=1.0)
    pools = list(dict.fromkeys((kind.gpu_type, kind.gpus) for kind in kinds))
    one_node_will_do = not ask.nodes and any(ask.gpus <= kind.gpus for kind in allowed)
    ranks = type_ranks(cluster, ask.kind, placement)
    options: list[Option] = []
    for pool, (gpu_type, per_node) in enumerate(pools):
        split = ask.split(per_node) if per_node else None
        if split is None or (one_node_will_do and ask.gpus > per_node):
            continue
        speed = cluster.speed_of(gpu_type, ask.kind)
        members = [kind for kind in allowed if (kind.gpu_type, kind.gpus) == (gpu_type, per_node)]
        options += _options(_ways(ask, split, members), kinds, ranks[gpu_type], pool, speed)
    return sorted(options, key=lambda option: (option.rank, option.nodes, option.pool))


def type_ranks(cluster: Cluster, kind: str | None, placement: Placement) -> dict[str, int]:
    """Which GPU types come first for a kind of job; equal numbers: none of them does."""
    if placement.type_cost is None:
        listed = placement.affinity.get(kind or "", ())
        return {t: listed.index(t) if t in listed else len(listed) for t in cluster.gpu_types}
    costs = {t: placement.type_cost(cluster, t, kind) for t in cluster.gpu_types}
    ordered = sorted(set(costs.values()))
    return {gpu_type: ordered.index(cost) for gpu_type, cost in costs.items()}


class Way(NamedTuple):
    """Chunks, and the kinds of nodes among which they have to find room."""

    members: list[Kind]
    many: int
    large: tuple[int, int, int]
    few: int
    small: tuple[int, int, int]


def _ways(ask: Ask, split: tuple[int, int, int, int], members: list[Kind]) -> list[Way]:
    """One for a pool; for a job that takes whole nodes one for each model, as these differ."""
    many, few = split[0], split[2]
    large, small = ask.chunk(split[1]), ask.chunk(split[3])
    if not ask.exclusive:
        return [Way(members, many, large, few, small)]
    alike: dict[Kind, list[Kind]] = {}
    for kind in members:
        if kind.holds(large):
            alike.setdefault(kind.model, []).append(kind)
    return [Way(own, many + few, model.all, 0, (0, 0, 0)) for model, own in alike.items()]


def _options(
    ways: list[Way], kinds: list[Kind], rank: int, pool: int, speed: float
) -> list[Option]:
    """The ways for which there are enough nodes."""
    options = []
    for way in ways:
        able = [kind for kind in way.members if kind.holds(way.large)]
        partly = [kind for kind in way.members if way.few and kind.holds(way.small)]
        if sum(len(kind.nodes) for kind in able) < way.many:
            continue
        if way.few and sum(len(kind.nodes) for kind in partly) < way.many + way.few:
            continue
        options.append(
            Option(
                rank, pool, way.many, way.large, way.few, way.small,
                _mask(able, kinds), _mask(partly, kinds), speed,
            )
        )  # fmt: skip
    return options


def _mask(chosen: list[Kind], kinds: list[Kind]) -> int:
    return sum(1 << kinds.index(kind) for kind in chosen)


class Demands(NamedTuple):
    """What jobs ask for: those that ask for the same share a demand."""

    of_job: Ints  # [jobs] -1: rejected
    options: list[list[Option]]  # [demands]
    rejected: Ints  # [jobs] why; 0: it is not
    unlisted: int  # jobs that the nodes they ask for cannot hold: they get any
    unreserved: int  # jobs that the reservation they ask for cannot hold: they go without


def demands_of(
    jobs: Jobs,
    cluster: Cluster,
    kinds: list[Kind],
    placement: Placement,
    apart: Sequence[Ints] = (),
) -> Demands:
    """Jobs that differ in one of the columns `apart` get demands of their own."""
    by_kind = bool(placement.affinity or cluster.kind_speed)
    limits = layout_limits(jobs, cluster)
    if limits is not None:
        timed = limits.timed(jobs)
        apart = [*apart, limits.of_job, *([] if timed is None else [timed])]
    asks, of_job = _distinct_asks(jobs, cluster, by_kind, apart)
    found = {ask: _options_met(ask, cluster, kinds, placement) for ask in dict.fromkeys(asks)}
    every = [found[ask][0] for ask in asks]
    why = np.array(
        [0 if own else reason_of(ask, cluster) for ask, own in zip(asks, every, strict=True)]
    )
    rejected = np.where(jobs.mig.codes != UNKNOWN, REASONS.index(ASKS_MIG), why[of_job])
    rejected[(rejected == 0) & not_let_in(jobs, cluster)] = REASONS.index(NOT_LET_IN)
    if limits is not None:
        _reject_over_limits(jobs, asks, of_job, every, limits, rejected)
    unlisted, unreserved = (
        int((np.array([wish in found[ask][1] for ask in asks])[of_job] & (rejected == 0)).sum())
        for wish in ("nodelist", "reservation")
    )
    of_job[rejected > 0] = -1
    return Demands(of_job, every, rejected.astype(np.int64), unlisted, unreserved)


def _options_met(
    ask: Ask, cluster: Cluster, kinds: list[Kind], placement: Placement
) -> tuple[list[Option], tuple[str, ...]]:
    """The options of a demand, and which of its wishes had to go for there to be any."""
    for gone in ((), ("nodelist",), ("reservation",), ("reservation", "nodelist")):
        if any(getattr(ask, wish) is None for wish in gone):
            continue
        free = replace(
            ask,
            nodelist=None if "nodelist" in gone else ask.nodelist,
            reservation=None if "reservation" in gone else ask.reservation,
        )
        if options := options_of(free, cluster, kinds, placement):
            return options, gone
    return [], ()


def _reject_over_limits(
    jobs: Jobs,
    asks: list[Ask],
    of_job: Ints,
    every: list[list[Option]],
    limits: LimitLayout,
    rejected: Ints,
) -> None:
    """What could never start under its limits, however little else runs."""
    _, first = np.unique(of_job, return_index=True)
    groups = limits.of_job[first].tolist()
    asked = [asked_of(ask, options) for ask, options in zip(asks, every, strict=True)]
    pairs = list(zip(groups, asked, strict=True))
    over = np.array([limits.too_large(group, own) for group, own in pairs])[of_job]
    under = np.array([limits.too_small(group, own) for group, own in pairs])[of_job]
    work = limits.too_much_work(jobs, np.array(asked)[of_job])
    for which, reason in (
        (limits.too_long(jobs), TOO_LONG), (over | work, OVER_LIMIT), (under, UNDER_LIMIT),
    ):  # fmt: skip
        rejected[(rejected == 0) & which] = REASONS.index(reason)


def asked_of(ask: Ask, options: list[Option]) -> Asked:
    """What a job counts for under limits; without options it counts for nothing."""
    return ask.gpus, ask.cpus, ask.memory, options[0].nodes if options else 0


def exclusive_of(jobs: Jobs, cluster: Cluster) -> Bools:
    """Jobs that take whole nodes: they ask for it, or none of their partitions gives less."""
    named = [cluster.partitions_named(name) for name in (*jobs.partition.values, None)]
    by_code = np.array([bool(own) and all(part.exclusive for part in own) for own in named])
    return jobs.exclusive | by_code[jobs.partition.codes]


def _distinct_asks(
    jobs: Jobs, cluster: Cluster, by_kind: bool, apart: Sequence[Ints]
) -> tuple[list[Ask], Ints]:
    unknown = Names.none(len(jobs)).codes
    asked: list[Ints | Bools] = [
        jobs.gpus,
        jobs.nodes,
        np.ceil(jobs.cpus * 1000).astype(np.int64),
        np.ceil(jobs.memory * 1024).astype(np.int64),
        jobs.gpu_type.codes,
        jobs.partition.codes,
        jobs.kind.codes if by_kind else unknown,
        exclusive_of(jobs, cluster),
        jobs.constraint.codes if cluster.has_features else unknown,
        jobs.nodelist.codes,
        jobs.exclude.codes,
        jobs.reservation.codes,
    ]
    # Few columns vary in most traces: unique rows over these alone take 10 ms instead of
    # 570 ms for 100,000 jobs.
    key = np.zeros(len(jobs), np.int64)
    for column in (*asked, *apart):
        if np.any(column != column[0]):
            values, codes = np.unique(column, return_inverse=True)
            key = np.unique(key * len(values) + codes, return_inverse=True)[1]
    _, first, of_job = np.unique(key, return_index=True, return_inverse=True)
    asks = [
        Ask(
            gpus, nodes, cpus, memory,
            jobs.gpu_type.name(gpu_type), jobs.partition.name(partition), jobs.kind.name(kind),
            bool(whole), jobs.constraint.name(features),
            jobs.nodelist.name(named), jobs.exclude.name(excluded), jobs.reservation.name(kept),
        )
        for (
            gpus, nodes, cpus, memory, gpu_type, partition, kind, whole, features, named, excluded,
            kept,
        ) in zip(*(column[first].tolist() for column in asked), strict=True)
    ]  # fmt: skip
    return asks, of_job.astype(np.int64)
