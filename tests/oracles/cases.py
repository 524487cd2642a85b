"""Small random clusters and traces, with far more contention and ties than real ones.

A case is made from one drawn seed: drawing every fact of every job through hypothesis costs
20 ms a case and clusters around trivial ones, so that 1200 such cases missed 10 of 19 planted
errors; 1500 of these miss 2. `reduced` stands in for hypothesis's own shrinking.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import strategies as st

from dovetail.domain.associations import AS_PARENT, ROOT, Association
from dovetail.domain.cluster import Cluster, Node, Partition
from dovetail.domain.estimates import Estimates
from dovetail.domain.limits import Each, Limit
from dovetail.domain.trace import Trace
from tests.builders import JobRow, estimates_of, trace_of

TYPES = ("v100", "p100", "a100")
KINDS = ("worker", "inference", "notebook")
GAPS = (0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.5, 0.1, 7.25)
RUNS = (5.0, 10.0, 10.0, 20.0, 3.0, 1.0, 0.0, 0.3, 33.3, 7.5, 60.0, 250.0)
WRONG = (1.0, 1.0, 0.1, 0.5, 0.9, 1.5, 2.0, 10.0)
PLENTY = math.inf
DAY = 86_400.0


@dataclass(frozen=True)
class Case:
    """All that a simulation needs besides policies."""

    cluster: Cluster
    rows: tuple[JobRow, ...]
    affinity: dict[str, tuple[str, ...]]

    @property
    def trace(self) -> Trace:
        return trace_of(*self.rows)

    @property
    def estimates(self) -> Estimates:
        return estimates_of(*self.rows)

    def exact(self) -> Case:
        """The same case with a clairvoyant scheduler."""
        return replace(self, rows=tuple(replace(row, estimate=None) for row in self.rows))

    def punctual(self) -> Case:
        """The same case where every job lasts as long as estimated, and a second at least."""
        rows = (replace(row, run=max(1.0, row.run), estimate=None) for row in self.rows)
        return replace(self, rows=tuple(rows))

    def unregulated(self) -> Case:
        """The same case at a site without tiers and limits, which may hold up a job that has a
        promise: one of a higher tier comes, or its user's share is taken."""
        parts = tuple(replace(part, tier=1) for part in self.cluster.partitions)
        site = replace(self.cluster, partitions=parts, limits=(), licenses={})
        return replace(self, cluster=site)

    def __repr__(self) -> str:
        lines = [
            *(f"{node!r} {node.features}" for node in self.cluster.nodes),
            *map(repr, self.cluster.partitions),
            f"speed={self.cluster.speed} {self.cluster.kind_speed} qos={self.cluster.qos}",
            f"licenses={self.cluster.licenses}",
            f"affinity={self.affinity}",
            *(f"{limit!r} {limit.amounts}" for limit in self.cluster.limits),
            *map(repr, self.cluster.associations),
            *(f"{number}: {row!r}" for number, row in enumerate(self.rows)),
        ]
        return "Case(\n    " + "\n    ".join(lines) + "\n)"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Hypothesis would write out every default of every job."""
        printer.text(repr(self))


def cases(most_jobs: int = 25) -> st.SearchStrategy[Case]:
    """A cluster, and jobs that mostly come faster than it can serve them."""
    return st.integers(0, 2**63 - 1).map(lambda seed: random_case(Random(seed), most_jobs))


def random_case(random: Random, most_jobs: int) -> Case:
    """What jobs may say at all is chosen first, so that every case has a character of its own."""
    cluster = random_cluster(random)
    facts, widths = _facts(cluster), _widths(cluster)
    told = [name for name in facts if random.random() < 0.3]
    scale = random.choice((1.0, 1.0, DAY / 10))
    gaps = random.choice((GAPS, GAPS, (0.0,), (1.0, 2.0, 2.0)))
    wrong = random.random() < 0.4
    known = any(math.isfinite(node.cpus) for node in cluster.nodes)
    mixed = known and random.random() < 0.5
    now = random.choice((0.0, 0.0, 1000.1))
    rows: list[JobRow] = []
    for _ in range(random.randint(min(8, most_jobs), most_jobs)):
        now += random.choice(gaps) * scale
        run, gpus = random.choice(RUNS) * scale, random.choice(widths)
        chosen: dict[str, Any] = {name: random.choice(facts[name]) for name in told}
        if wrong:
            chosen["estimate"] = run * random.choice(WRONG)
        if mixed and random.random() < 0.5:
            gpus, chosen["cpus"] = 0, random.choice((0.5, 1.0, 2.0, 2.5, 4.0))
        if "nodes" in chosen and gpus:
            chosen["nodes"] = min(chosen["nodes"], gpus)
        if "deadline" in chosen:
            chosen["deadline"] = now + chosen["deadline"] * scale
        rows.append(JobRow(now, run, gpus, **chosen))
    affinity = {
        "worker": tuple(random.sample(TYPES, 3)),
        "inference": tuple(random.sample(TYPES, 1)),
    }
    return Case(cluster, tuple(rows), affinity)


def hungry(case: Case) -> Case:
    """The same case on nodes where CPUs and memory run short, hardly two jobs alike in asking."""
    random = Random(len(case.rows) * len(case.cluster.nodes))
    nodes = tuple(replace(node, cpus=8.0, memory_gb=16.0) for node in case.cluster.nodes)
    rows = tuple(
        replace(
            row,
            cpus=random.choice((0.0, 1.0, 2.5, 5.0)) or float(row.gpus == 0),
            memory=random.randint(0, 24) / 2,
        )
        for row in case.rows
    )
    return replace(case, cluster=replace(case.cluster, nodes=nodes), rows=rows)


def choosy(case: Case) -> Case:
    """The same case with two partitions, where hardly a job may run on every node."""
    random = Random(repr(case.rows))
    count = len(case.cluster.nodes)
    members = [frozenset(random.sample(range(count), random.randint(1, count))) for _ in range(2)]
    parts = tuple(
        Partition(name, own, random.choice((1.0, 2.0, 5.0)), random.choice((1, 1, 2)), exclusive)
        for name, own in zip(("left", "right"), members, strict=True)
        for exclusive in [random.random() < 0.3]
    )
    limits = (Limit(partitions=("left",), each=Each.JOB, gpus=3), *case.cluster.limits)
    site = replace(case.cluster, partitions=parts, limits=limits)
    facts = _facts(site)
    told = ("partition", "nodelist", "exclude")
    rows = tuple(
        replace(row, **{name: random.choice(facts[name]) for name in told}) for row in case.rows
    )
    return replace(case, cluster=site, rows=rows)


def random_cluster(random: Random) -> Cluster:
    """One to six nodes."""
    count = random.choice((1, 2, 3, 4, 5, 6, 6))
    types = TYPES[: random.choice((1, 1, 2, 3))]
    sizes = random.choice(((4,), (8,), (2,), (1,), (2, 4), (4, 8), (1, 3, 8)))
    bounded, switches = random.random() < 0.5, random.choice(("a", "ab", "ab", "abc"))
    featured = random.random() < 0.3
    if bounded and random.random() < 0.4:
        sizes = (*sizes, 0)  # nodes with CPUs only among them
    nodes = [
        Node(
            f"n{index}",
            size,
            random.choice(types),
            random.choice((8.0, 4.0, 3.5, *((PLENTY,) * (size > 0)))) if bounded else PLENTY,
            random.choice((16.0, 10.0, PLENTY)) if bounded else PLENTY,
            random.choice(switches),
            features=random.choice(((), ("ib",), ("gold", "ib"))) if featured else (),
        )
        for index in range(count)
        for size in [random.choice(sizes)]
    ]
    speeds: dict[str, float] = random.choice(({}, {}, {"v100": 2.0}, {"v100": 0.5, "p100": 3.0}))
    used = {node.gpu_type for node in nodes if node.gpus}
    return Cluster(
        nodes=tuple(nodes),
        partitions=_partitions(random, count),
        speed={name: factor for name, factor in speeds.items() if name in used},
        qos=random.choice(({}, {"high": 10.0, "normal": 4.0})),
        name="drawn",
        kind_speed=_kind_speeds(random, used),
        limits=_limits(random),
        slurm=random.choice(({}, {"PriorityCalcPeriod": "1"})),
        associations=_tree(random),
        licenses=random.choice(({}, {}, {}, {"matlab": 2}, {"matlab": 4, "ansys": 1})),
    )


def in_a_tree(case: Case) -> Case:
    """The same case at a site with a tree of accounts and settings of slurm.conf."""
    random = Random(repr(case.rows))
    settings = {
        "PriorityCalcPeriod": "1",
        "PriorityWeightJobSize": random.choice(("0", "700")),
        "PriorityWeightPartition": random.choice(("0", "300")),
        "PriorityWeightQOS": "40",
        "PriorityFavorSmall": random.choice(("YES", "NO")),
        "PriorityWeightTRES": random.choice(("", "gres/gpu=500")),
    }
    rows = tuple(
        replace(
            row,
            user=random.choice(("ann", "bob", "cat", None)),
            account=random.choice(("physics", "biology", "biology", None)),
        )
        for row in case.rows
    )
    tree = _grow(random)
    return replace(
        case, cluster=replace(case.cluster, slurm=settings, associations=tree), rows=rows
    )


def _tree(random: Random) -> tuple[Association, ...]:
    """Mostly none."""
    return _grow(random) if random.random() < 0.2 else ()


def _grow(random: Random) -> tuple[Association, ...]:
    """Accounts, one perhaps in another, with most users in most of them."""
    shares = (1.0, 1.0, 1.0, 2.0, 3.0, 0.0, AS_PARENT)
    above = random.choice((ROOT, "biology"))
    accounts = [
        Association("biology", shares=random.choice(shares)),
        Association("physics", "", above, random.choice(shares)),
    ]
    users = [
        Association(account, user, shares=random.choice(shares))
        for account in ("physics", "biology", *((ROOT,) * (random.random() < 0.2)))
        for user in ("ann", "bob", "cat")
        if random.random() < 0.8
    ]
    return (*random.sample(accounts, 2), *users)


def _kind_speeds(random: Random, used: set[str]) -> dict[str, dict[str, float]]:
    """Mostly none; else what suits workers does not suit inference."""
    drawn: dict[str, dict[str, float]] = random.choice(
        ({}, {}, {"worker": {"v100": 4.0}, "inference": {"p100": 0.25, "v100": 1.5}})
    )
    return {
        kind: {name: factor for name, factor in speeds.items() if name in used}
        for kind, speeds in drawn.items()
    }


def _limits(random: Random) -> tuple[Limit, ...]:
    """Mostly none; else a few, of all sorts, mostly tight."""
    if random.random() < 0.7:
        return ()
    return tuple(
        Limit(
            users=random.choice(((), (), ("ann",), ("ann", "bob"))),
            accounts=random.choice(((), (), ("physics",))),
            qos=random.choice(((), (), ("normal",), ("high", "normal"))),
            partitions=random.choice(((), (), ("left",))),
            each=random.choice((Each.ALL, Each.USER, Each.USER, Each.ACCOUNT)),
            **{random.choice(("jobs", "gpus", "cpus", "nodes")): random.choice((1, 2, 3, 5, 8))},
            **({"submitted": random.choice((2, 4, 9))} if random.random() < 0.3 else {}),
        )
        for _ in range(random.randint(1, 3))
    ) + random.choice(
        (
            *((),) * 6,
            (Limit(each=Each.JOB, minutes=0.5, gpus=6),),
            (Limit(partitions=("left",), each=Each.JOB, minutes=0.5, nodes=1),),
            tuple(Limit(partitions=(p,), each=Each.JOB, cpus=2.5) for p in ("left", "right")),
        )
    )


def _partitions(random: Random, count: int) -> tuple[Partition, ...]:
    """None, two that share no node, or two that may."""
    how = random.choice(("none", "none", "disjoint", "overlapping"))
    tiers = random.choice(((1,), (1, 2), (0, 1, 5)))
    if how == "none":
        return ()
    cut = random.randint(1, count)
    left, right = set(range(cut)), set(range(cut, count))
    if how == "overlapping":
        right |= {random.randrange(count) for _ in range(2)}
    return tuple(
        Partition(
            name,
            frozenset(nodes),
            random.choice((1.0, 2.0, 5.0)),
            random.choice(tiers),
            random.random() < 0.1,
            random.choice(((), (), (("cpu", 1.0), ("gpu", 2.5), ("memory_gb", 0.25)))),
        )
        for name, nodes in (("left", left), ("right", right))
        if nodes
    )


def reduced(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A failing case without the jobs and facts that the failure does not need."""
    plain = JobRow()
    for index in reversed(range(len(case.rows))):
        fewer = replace(case, rows=case.rows[:index] + case.rows[index + 1 :])
        if fewer.rows and fails(fewer):
            case = fewer
    for index, row in enumerate(case.rows):
        for name in vars(plain).keys() - {"submit", "run", "gpus"}:
            if name == "cpus" and row.gpus == 0:  # it has to ask for something
                continue
            row = replace(case.rows[index], **{name: getattr(plain, name)})
            simpler = replace(case, rows=(*case.rows[:index], row, *case.rows[index + 1 :]))
            if fails(simpler):
                case = simpler
    return case


def _widths(cluster: Cluster) -> tuple[int, ...]:
    """GPUs that jobs ask for: mostly what fits a node just so, at times more than there is."""
    size = max(1, *(node.gpus for node in cluster.nodes))
    total = max(1, cluster.total_gpus)
    half = max(1, size // 2)
    wide = min(total, size + 1)
    few = (1, 1, 2, 3, half, half, half + 1, size, size)
    return (*few, *few, wide, wide, 2 * size, size + half, total, total + 1)


def _facts(cluster: Cluster) -> dict[str, tuple[Any, ...]]:
    """What a job may say, beyond times and GPUs."""
    first = cluster.nodes[0].gpu_type
    last = cluster.nodes[-1].gpu_type
    parts = [part.name for part in cluster.partitions]
    several = ("left,right", "right,left", "left,nowhere", "nowhere,nobody")
    return {
        "nodes": (0, 0, 0, 1, 2, 3),
        "cpus": (0.0, 1.0, 2.0, 2.5, 3.0, 4.0, 8.0),
        "memory": (0.0, 1.0, 5.0, 5.1, 9.0, 20.0),
        "gpu_type": (None, first, last, last, f"{last}|{first}", f"{first}|h100", "h100"),
        "partition": (None, *parts, *parts, *several) if parts else (None, "left", "left,right"),
        "user": (None, "ann", "bob", "cat"),
        "qos": (None, "normal", "high", "unheard-of"),
        "kind": (None, *KINDS),
        "mig": (None,) * 15 + ("1g.5gb",),
        "priority": (0.0, 1.0, 1.0, -2.0, 10.5),
        "deadline": (math.nan, 5.0, 20.0, 100.0),
        "limit": (math.nan, 10.0, 60.0),
        "exclusive": (False, False, True),
        "account": (None, "physics", "biology"),
        "licenses": (None, "matlab", "matlab:2", "matlab:3,ansys", "stata"),
        "constraint": (None, "ib", "gold", "gold|ib", "gold&ib", "cray"),
        "nodelist": (None, None, None, "n0", "n[0-1]", "n1,n0", "n[2-5]", "n9"),
        "exclude": (None, None, None, "n0", "n[1-2]", "n[0-1]", "n[0-9]"),
    }
