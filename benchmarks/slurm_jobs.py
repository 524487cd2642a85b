"""1,024 fine-tuning and inference jobs for the small cluster of the published Slurm experiment.

jobs = draw(seed=1)
trace_of(jobs)                       # for the simulator
jobs[0].sbatch()                     # words for Slurm

The paper gives the nodes, the number of jobs and their kinds (inference and fine-tuning of language
models, on one GPU, several GPUs, several nodes), no run times and no arrivals. Its 10,584 minutes
on 13 GPUs are two GPU hours for a job; here it is a 25th of that, so that a run takes minutes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.slurm_site import PARTITION, PEOPLE, cluster
from dovetail.domain.jobs import Floats, JobColumns
from dovetail.domain.trace import Trace

JOBS = 1024
LOAD = 1.15
"""Work that comes while jobs arrive, over what 13 GPUs can do: queues form, then are worked off."""

INFERENCE = 0.55
"""Share of the jobs; the rest are fine-tunings."""

MEDIAN = {"inference": 75.0, "fine-tuning": 210.0}
SPREAD = {"inference": 0.7, "fine-tuning": 0.9}
SHORTEST, LONGEST = 30.0, 3600.0
"""Seconds; starting a job in faster time costs about 12 s, so that none is much shorter."""

SHAPES = {
    # kind: ((share, nodes, GPUs on each), ...)
    "inference": ((0.90, 1, 1), (0.10, 1, 2)),
    "fine-tuning": ((0.52, 1, 1), (0.25, 1, 2), (0.14, 1, 4), (0.06, 2, 2), (0.03, 2, 4)),
}
LIMITS = (2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120)
"""Minutes that people ask for."""
ALWAYS_AN_HOUR = 0.1
"""Share of the jobs whose owners leave the default limit."""

CPUS_PER_GPU, MEMORY_GB_PER_GPU = 2, 8


@dataclass(frozen=True, slots=True)
class Work:
    """One job; times in seconds."""

    number: int
    kind: str
    arrival: float
    run: float
    minutes: int  # the user's limit
    nodes: int
    gpus_per_node: int
    user: str
    account: str

    @property
    def gpus(self) -> int:
        return self.nodes * self.gpus_per_node

    def sbatch(self) -> tuple[str, ...]:
        """What `sbatch` needs besides GPUs per node, name, user and limit."""
        return (
            f"--nodes={self.nodes}",
            "--ntasks-per-node=1",
            f"--cpus-per-task={CPUS_PER_GPU * self.gpus_per_node}",
            f"--mem={MEMORY_GB_PER_GPU * self.gpus_per_node}G",
            f"--account={self.account}",
        )


def draw(seed: int, count: int = JOBS) -> tuple[Work, ...]:
    """The same jobs for the same seed."""
    rng = np.random.default_rng(seed)
    kinds = np.where(rng.random(count) < INFERENCE, "inference", "fine-tuning").tolist()
    shapes = [_shape(kind, rng) for kind in kinds]
    runs = np.array([_run(kind, rng) for kind in kinds])
    gpus = np.array([nodes * each for nodes, each in shapes])
    span = float(np.sum(runs * gpus)) / (cluster().total_gpus * LOAD)
    arrivals = _arrivals(count, span, rng)
    busy = np.array([weight for *_, weight in PEOPLE], float)
    owners = rng.choice(len(PEOPLE), count, p=busy / busy.sum())
    limits = [_limit(run, rng) for run in runs]
    return tuple(
        Work(
            number=i, kind=kinds[i], arrival=float(arrivals[i]), run=float(runs[i]),
            minutes=limits[i], nodes=shapes[i][0], gpus_per_node=shapes[i][1],
            user=PEOPLE[owners[i]][0], account=PEOPLE[owners[i]][1],
        )
        for i in range(count)
    )  # fmt: skip


def _shape(kind: str, rng: np.random.Generator) -> tuple[int, int]:
    shares = [share for share, *_ in SHAPES[kind]]
    _, nodes, gpus = SHAPES[kind][rng.choice(len(shares), p=shares)]
    return nodes, gpus


def _run(kind: str, rng: np.random.Generator) -> float:
    drawn = MEDIAN[kind] * math.exp(SPREAD[kind] * rng.standard_normal())
    return float(round(min(LONGEST, max(SHORTEST, drawn))))


def _limit(run: float, rng: np.random.Generator) -> int:
    """People ask for up to four times of what they need, in round figures."""
    need = run * rng.uniform(1.2, 4.0) + 30.0
    asked = next((minutes for minutes in LIMITS if 60 * minutes >= need), math.ceil(need / 60))
    return max(60, asked) if rng.random() < ALWAYS_AN_HOUR else asked


def _arrivals(count: int, span: float, rng: np.random.Generator) -> Floats:
    """A Poisson process whose rate swings by half, three times within the span; from 0."""
    fine = np.linspace(0.0, 1.0, 2001)
    swung = fine + 0.5 / (6 * math.pi) * (1 - np.cos(6 * math.pi * fine))
    places = np.sort(rng.random(count))
    moments: Floats = np.interp(places * swung[-1], swung, fine) * span
    return moments - float(moments[0])


@dataclass(frozen=True, slots=True)
class Observed:
    """What became of the jobs: seconds from the first submission."""

    submit: Floats
    start: Floats
    end: Floats

    @property
    def wait(self) -> Floats:
        return self.start - self.submit


def trace_of(jobs: tuple[Work, ...], observed: Observed | None = None) -> Trace:
    """The jobs as drawn, or with the submissions and run times that Slurm really had."""
    submit = np.array([job.arrival for job in jobs])
    run = np.array([job.run for job in jobs])
    if observed is not None:
        submit, run = observed.submit, observed.end - observed.start
    columns = JobColumns(
        submit=submit,
        run=run,
        gpus=[job.gpus for job in jobs],
        ids=[str(job.number) for job in jobs],
        limit=[60.0 * job.minutes for job in jobs],
        nodes=[job.nodes if job.nodes > 1 else 0 for job in jobs],
        cpus=[CPUS_PER_GPU * job.gpus for job in jobs],
        memory=[MEMORY_GB_PER_GPU * job.gpus for job in jobs],
        user=[job.user for job in jobs],
        account=[job.account for job in jobs],
        partition=[PARTITION] * len(jobs),
        kind=[job.kind for job in jobs],
    )
    order = np.argsort(submit, kind="stable")
    return Trace(columns.build().take(order), "slurm-experiment")
