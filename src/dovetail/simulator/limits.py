"""From a cluster's limits to arrays: which jobs share which counters, and what each may reach."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.distinct import distinct_rows
from dovetail.domain.jobs import Bools, Ints, Jobs, Names
from dovetail.domain.limits import Each, Limit
from dovetail.slurm.licenses import licenses_of

NO_LIMIT = 2**62
"""More than can ever be in use."""

COUNTED = {"jobs": 1, "submitted": 1, "gpus": 1, "cpus": 1000, "memory_gb": 1024, "nodes": 1}
"""What a counter counts, in how many parts of the limit's unit."""

WORKED = {
    f"{one}_minutes": 60 * COUNTED[name]
    for one, name in (("gpu", "gpus"), ("cpu", "cpus"), ("memory_gb", "memory_gb"),
                      ("node", "nodes"))
}  # fmt: skip
"""The same for what is asked for, times the seconds of a time limit."""

Asked = tuple[int, int, int, int]
"""What a job counts for: GPUs, CPUs, memory, and nodes of its first option."""

_ASKED = ("gpus", "cpus", "memory_gb", "nodes")


class Link(NamedTuple):
    """A counter, and how much of each amount may be in use there."""

    use: int
    most: tuple[int, ...]  # as COUNTED
    work: tuple[int, ...] = (NO_LIMIT,) * len(WORKED)
    timed: bool = False  # the counter counts work, whoever is bound by it


@dataclass(frozen=True, slots=True)
class LimitLayout:
    """Jobs with the same user, account, QOS and partition have the same limits: one group."""

    of_job: Ints  # [jobs] the group
    links: list[list[Link]]  # [groups]
    single: list[list[Limit]]  # [groups] limits that bound one job, or its part of a node
    uses: int  # counters in all

    def too_long(self, jobs: Jobs) -> Bools:
        """Jobs whose time limit is above what they may ask for."""
        most = [min((limit.minutes for limit in own), default=math.inf) for own in self.single]
        with np.errstate(invalid="ignore"):
            return jobs.limit > 60.0 * np.array(most)[self.of_job]

    def too_large(self, group: int, asked: Asked) -> bool:
        """Whether a job of a group could not even run alone."""
        for name, amount in zip(_ASKED, asked, strict=True):
            at = list(COUNTED).index(name)
            if any(amount > link.most[at] for link in self.links[group]):
                return True
            for limit in self.single[group]:
                nodes = asked[3] if limit.each is Each.NODE else 1
                if amount > _parts(limit, name) * nodes:
                    return True
        return any(link.most[at] < 1 for link in self.links[group] for at in (0, 1))

    def too_small(self, group: int, asked: Asked) -> bool:
        """Whether a job of a group asks for less than it has to."""
        return any(
            amount < getattr(limit, f"least_{name}") * COUNTED[name]
            for limit in self.single[group]
            for name, amount in zip(_ASKED, asked, strict=True)
        )

    def too_much_work(self, jobs: Jobs, asked: Ints) -> Bools:
        """Jobs [jobs, 4] that ask for too much for as long as they may run."""
        most = np.array(
            [
                [
                    min(
                        [
                            NO_LIMIT,
                            *(link.work[at] for link in links),
                            *(getattr(limit, name) * parts for limit in single),
                        ]
                    )
                    for at, (name, parts) in enumerate(WORKED.items())
                ]
                for links, single in zip(self.links, self.single, strict=True)
            ]
        )  # fmt: skip
        work = asked * seconds_allowed(jobs)[:, None].astype(np.float64)
        return np.asarray((work > most[self.of_job]).any(axis=1))

    def timed(self, jobs: Jobs) -> Ints | None:
        """The time limits of jobs whose work is counted; None where nobody's is."""
        counted = np.array([any(link.timed for link in own) for own in self.links])[self.of_job]
        known = counted & ~np.isnan(jobs.limit)
        return np.where(known, seconds_allowed(jobs), -1) if counted.any() else None


def seconds_allowed(jobs: Jobs) -> Ints:
    """Time limits in whole seconds; 0 where they are unknown."""
    return np.floor(np.nan_to_num(jobs.limit)).astype(np.int64)


def layout_limits(jobs: Jobs, cluster: Cluster) -> LimitLayout | None:
    """None where nothing is limited."""
    if not (cluster.limits or cluster.licenses):
        return None
    owners = (jobs.user, jobs.account, jobs.qos, jobs.partition)
    held = jobs.licenses if cluster.licenses else Names.none(len(jobs))
    codes = np.column_stack([column.codes for column in (*owners, held)])
    distinct, of_job = distinct_rows(codes)
    counters: dict[tuple[int | str, str | None], int] = {}
    links, single = [], []
    of_user = _by_user(cluster)
    for row in distinct.tolist():
        *names, licenses = [
            column.name(code) for column, code in zip((*owners, held), row, strict=True)
        ]
        own = {
            number: cluster.limits[number]
            for number in sorted({*of_user[None], *of_user.get(names[0], ())})
            if cluster.limits[number].applies(*names)
        }
        single.append([limit for limit in own.values() if not limit.together])
        links.append(
            [
                Link(counters.setdefault((number, whose), len(counters)), *most)
                for number, whose, most in _together(own, names[0], names[1])
            ]
        )
        links[-1] += [
            Link(counters.setdefault(("license", name), len(counters)), most)
            for name, most in _license_limits(licenses, cluster)
        ]
    return LimitLayout(of_job, links, single, len(counters))


def _license_limits(
    licenses: str | None, cluster: Cluster
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """A licence is a limit of all jobs that hold it: a job with three counts there as three jobs.

    So three links to one counter, each of which leaves room for the other two.
    """
    for name, wanted in licenses_of(licenses or "").items():
        if name in cluster.licenses:
            wanted = min(wanted, cluster.licenses[name] + 1)  # one too many is enough
            for _ in range(wanted):
                most = cluster.licenses[name] - wanted + 1
                yield name, (most, *(NO_LIMIT for _ in list(COUNTED)[1:]))


def _by_user(cluster: Cluster) -> dict[str | None, list[int]]:
    """Numbers of limits by the users that they name; None: any. Sites have thousands of users."""
    found: dict[str | None, list[int]] = {None: []}
    for number, limit in enumerate(cluster.limits):
        for user in limit.users or (None,):
            found.setdefault(user, []).append(number)
    return found


def _together(
    own: dict[int, Limit], user: str | None, account: str | None
) -> Iterator[tuple[int, str | None, tuple[tuple[int, ...], tuple[int, ...], bool]]]:
    """Of limits on jobs together: number, whose use is counted, and the most of each amount and of
    each work, and whether work is counted.

    An amount counts only where no limit of a lower level bounds it as well.
    """
    lowest: dict[tuple[Each, str], int] = {}
    for limit in own.values():
        for name in limit.amounts:
            key = (limit.each, name)
            lowest[key] = min(lowest.get(key, limit.level), limit.level)
    for number, limit in own.items():
        held = {n: v for n, v in limit.amounts.items() if lowest[limit.each, n] == limit.level}
        if limit.together:  # use is counted even where another limit holds
            most, work = (
                tuple(
                    min(NO_LIMIT, math.floor(held[name] * parts)) if name in held else NO_LIMIT
                    for name, parts in counted.items()
                )
                for counted in (COUNTED, WORKED)
            )
            timed = bool(limit.amounts.keys() & WORKED)
            whose = {Each.USER: user, Each.ACCOUNT: account}.get(limit.each)
            yield number, whose, (most, work, timed)


def _parts(limit: Limit, name: str) -> float:
    return float(getattr(limit, name)) * COUNTED[name]
