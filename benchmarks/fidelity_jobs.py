"""The jobs of the fidelity benchmark, and the site that they come to."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dovetail.domain.jobs import Floats
from tests.live.slurm.clients import Job
from tests.live.slurm.options import (
    Account,
    Accounting,
    NodeGroup,
    Options,
    Partition,
    Qos,
    User,
)

LOAD = 1.4
"""Work that comes in over what the nodes can do, a job taken to need the scarcer of GPUs and CPUs:
a queue builds up, and not without end."""

NODES = (
    # Jobs without GPUs are to take other nodes first, as sites set it.
    NodeGroup("p100", 3, gpus=4, cpus=16, weight=10),
    NodeGroup("cpu", 3, gpus=0, cpus=16),
)
PARTITIONS = (
    Partition("batch"),
    Partition("gpu", nodes=("p100-[1-3]",), settings=("PriorityJobFactor=5",)),
    Partition("urgent", settings=("PriorityTier=5",)),
)
PEOPLE = (
    # a user of the system's own, the account, how busy, shares
    ("games", "optics", 5, 1), ("man", "optics", 2, 1), ("lp", "plasma", 3, 2),
    ("mail", "genes", 3, 1), ("news", "genes", 1, 3),
)  # fmt: skip
ACCOUNTING = Accounting(
    accounts=(
        Account("physics", 3),
        Account("biology", 2),
        Account("optics", 2, ("parent=physics",)),
        Account("plasma", 1, ("parent=physics",)),
        Account("genes", 1, ("parent=biology",)),
    ),
    users=tuple(User(name, account, shares) for name, account, _, shares in PEOPLE),
    qos=(
        Qos("high", 10),
        Qos("small", 5, ("MaxJobsPerUser=4",)),
    ),
)
SMALL = "MaxTRESPerUser=gres/gpu=2,cpu=8"
"""Of that QOS; to be said once Slurm runs, as its database knows no GPUs before."""

ACCESS = ("qos=normal,high,small", "defaultqos=normal")
WEIGHTS = (
    ("Age", 1000), ("Fairshare", 3000), ("JobSize", 500), ("Partition", 300), ("QOS", 1000),
)  # fmt: skip
SETTINGS = ("PriorityMaxAge=0-02:00:00", "PriorityDecayHalfLife=0-06:00:00")
SHAPES = (
    # share, nodes, GPUs and CPUs on each, whole nodes
    (0.28, 1, 0, 1, False), (0.15, 1, 0, 4, False), (0.05, 1, 0, 12, False),
    (0.04, 2, 0, 8, False), (0.03, 1, 0, 1, True),
    (0.27, 1, 1, 2, False), (0.10, 1, 2, 4, False), (0.05, 1, 4, 8, False), (0.03, 2, 4, 4, False),
)  # fmt: skip
MINUTES = (2, 5, 10, 20, 30, 60)
MB_PER_CPU = 2048
ARRAYS, TASKS = 0.06, (3, 8)
"""Share of submissions that are arrays, and how many tasks these have."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One submission as it is drawn; seconds."""

    number: int
    arrival: float
    run: float
    minutes: int
    nodes: int
    gpus: int  # on each node
    cpus: int  # on each node
    exclusive: bool
    tasks: int  # 1: no array
    partition: str
    qos: str
    user: str
    account: str

    def job(self) -> Job:
        words = [f"--nodes={self.nodes}", "--ntasks-per-node=1", f"--cpus-per-task={self.cpus}"]
        words += [f"--mem={MB_PER_CPU * self.cpus}", *(["--exclusive"] * self.exclusive)]
        words += [f"--qos={self.qos}", f"--account={self.account}"]
        words += [f"--array=1-{self.tasks}"] * (self.tasks > 1)
        return Job(
            gpus=self.gpus, seconds=self.run, name=f"job-{self.number}", minutes=self.minutes,
            partition=self.partition, user=self.user, extra=tuple(words),
        )  # fmt: skip


def site_options(speed: float) -> Options:
    """A small site with everything that decides who goes first."""
    users = tuple(
        User(user.name, user.account, user.shares, settings=ACCESS) for user in ACCOUNTING.users
    )
    return Options(
        nodes=NODES, partitions=PARTITIONS, auth="none", speed=speed, weights=WEIGHTS,
        accounting=Accounting(
            ACCOUNTING.accounts, users, ACCOUNTING.qos, "associations,limits,qos"
        ),
        extra=SETTINGS,
    )  # fmt: skip


def draw(seed: int, count: int) -> tuple[Ask, ...]:
    """The same submissions for the same seed, of `count` jobs in all."""
    rng = np.random.default_rng(seed)
    tasks: list[int] = []
    while sum(tasks) < count:
        tasks.append(int(rng.integers(*TASKS)) if rng.random() < ARRAYS else 1)
    tasks[-1] -= sum(tasks) - count
    number = len(tasks)
    shares = np.array([shape[0] for shape in SHAPES])
    shapes = [SHAPES[i] for i in rng.choice(len(SHAPES), number, p=shares / shares.sum())]
    runs = np.clip(150.0 * np.exp(0.9 * rng.standard_normal(number)), 30.0, 3600.0).round()
    part = [nodes * max(gpus / 12, (16 if whole else cpus) / 96)
            for _, nodes, gpus, cpus, whole in shapes]  # fmt: skip
    arrivals = np.sort(rng.random(number)) * float(np.sum(runs * part * tasks)) / LOAD
    owners = rng.choice(len(PEOPLE), number, p=_busy())
    return tuple(
        Ask(
            i, float(arrivals[i] - arrivals[0]), float(runs[i]), _limit(runs[i], rng),
            *shapes[i][1:], tasks[i], _partition(shapes[i][2], rng),
            _qos(shapes[i], rng), *PEOPLE[owners[i]][:2],
        )
        for i in range(number)
    )  # fmt: skip


def _busy() -> Floats:
    busy: Floats = np.array([how for _, _, how, _ in PEOPLE], np.float64)
    shares: Floats = busy / busy.sum()
    return shares


def _qos(shape: tuple[float, int, int, int, bool], rng: np.random.Generator) -> str:
    """Jobs that the limits of QOS small allow may be in any."""
    _, nodes, gpus, cpus, whole = shape
    if nodes > 1 or gpus > 2 or cpus > 8 or whole:
        return "normal"
    return str(rng.choice(["normal", "high", "small"], p=[0.8, 0.1, 0.1]))


def _partition(gpus: int, rng: np.random.Generator) -> str:
    chance = rng.random()
    if chance < 0.08:
        return "urgent"
    return "gpu" if gpus and chance < 0.6 else "batch"


def _limit(run: float, rng: np.random.Generator) -> int:
    seconds = run * rng.uniform(1.2, 4.0)
    return next((m for m in MINUTES if 60 * m >= seconds + 30), math.ceil(seconds / 60) + 1)
