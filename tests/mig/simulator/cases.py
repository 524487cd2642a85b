"""Small random workloads on sliced GPUs, with more ties and contention than real ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

import numpy as np
from hypothesis import strategies as st

from dovetail.domain.jobs import Ints, JobColumns
from dovetail.domain.trace import Trace
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.gpus.table import A30_24, A100_40, A100_40_ROUNDED
from dovetail.mig.policy import ClusterView
from dovetail.mig.workload.jobs import MigWorkload, times_table

SLOW = replace(A100_40, name="slow", speed=0.5)
TYPES = (A100_40, A100_40_ROUNDED, A30_24, SLOW)
CURVES = ((1, 2, 3, 4, 7), (1, 2, 2.5, 2.5, 3), (1, 1.1, 1.1, 1.1, 1.1), (1, 1.9, 2.9, 3.5, 4.2))
GAPS = (0.0, 0.0, 0.0, 1.0, 2.0, 3.5, 0.1, 20.0)
RUNS = (4.0, 10.0, 10.0, 60.0, 7.3, 0.7, 200.0)
SLACKS = (0.5, 1.0, 1.2, 2.0, 2.0, 4.0, 30.0)
MEMORY = (0.0, 0.0, 0.0, 5.0, 10.0, 20.0, 40.0, 64.0)


@dataclass(frozen=True)
class Shuffler:
    """Wants some GPUs cut otherwise, by a hash of what it sees: both simulators ask the same."""

    seed: int
    every: int = 3
    name: str = "shuffler"

    def wanted(self, view: ClusterView) -> Ints:
        told = [time for time in view.times[:, 7].tolist() if time < 1e6]
        seen = (view.now, view.way.tolist(), view.waiting.tolist(), view.deadline.tolist(), told)
        random = Random(f"{self.seed} {seen}")
        return np.array([random.randrange(-1, 16) if random.random() < 0.5 else -1
                         for _ in view.way])  # fmt: skip


def random_cluster(random: Random, types: tuple[GpuModel, ...]) -> MigCluster:
    chosen = [random.choice(types) for _ in range(random.randint(1, 4))]
    numbers = [random.randint(1, len(kind.configurations)) for kind in chosen]
    return MigCluster(tuple(chosen), tuple(numbers))


def random_workload(random: Random, most_jobs: int) -> MigWorkload:
    count = random.randint(1, most_jobs)
    submit = np.cumsum([random.choice(GAPS) for _ in range(count)])
    run = np.array([random.choice(RUNS) for _ in range(count)])
    by_size = run[:, None] / np.array([random.choice(CURVES) for _ in range(count)])
    by_size[np.array([random.random() < 0.1 for _ in range(count)]), 0] = np.inf
    deadline = submit + by_size[:, 4] * [random.choice(SLACKS) for _ in range(count)]
    deadline[[random.random() < 0.1 for _ in range(count)]] = np.nan
    jobs = JobColumns(
        submit=submit, run=run, gpus=np.ones(count, np.int64), deadline=deadline,
        memory=[random.choice(MEMORY) for _ in range(count)],
        kind=[random.choice(["inference", "training"]) for _ in range(count)],
    )  # fmt: skip
    return MigWorkload(Trace(jobs.build()), times_table(by_size))


@dataclass(frozen=True)
class MigCase:
    workload: MigWorkload
    cluster: MigCluster
    seed: int


def mig_cases(
    types: tuple[GpuModel, ...] = TYPES, most_jobs: int = 40
) -> st.SearchStrategy[MigCase]:
    def make(seed: int) -> MigCase:
        random = Random(seed)
        workload = random_workload(random, most_jobs)
        return MigCase(workload, random_cluster(random, types), seed)

    return st.integers(0, 2**40).map(make)
