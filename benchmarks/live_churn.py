"""Updates that the daemon sends: 1,000 waiting jobs, an arrival and a start in every cycle.

    python -m benchmarks.run live_churn

The whole controller in active mode on a cluster in memory, a minute of its time in each cycle. The
first cycle, which brings the whole queue into order, is told apart. Queues of four kinds: jobs that
may all be moved; jobs of three QOS, which bind; and one job in twenty, or every other one, of an
account that is left alone, at priorities among the others: nobody may pass these. After each cycle
the jobs must stand as decided, by the priorities that the cluster has.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dovetail.live.backends.recorded import MemoryCluster, RecordedBackend
from dovetail.live.config import ActConfig, GuardrailConfig, JournalConfig, LiveConfig
from dovetail.live.cycle.actuator import Clocks
from dovetail.live.cycle.controller import LiveController
from dovetail.live.journal import Journal
from dovetail.live.model.mode import Mode

WAITING, CYCLES = 1000, 100
SEEDS = (0, 1, 2)
GOAL = 5.0
"""Updates a cycle in the mean."""
NODES, GPUS = 16, 8
MINUTE = 60.0
POLICIES = ("sjf", "saf", "f1", "qssf", "wfp3", "dovetail")
"""Scores of `wfp3` change as a job waits, those of the others hardly."""


@dataclass(frozen=True)
class Kind:
    """What the site has declared about its jobs."""

    qos: tuple[int, ...] = (0,)  # what each QOS adds to a priority; drawn alike
    untouched: float = 0.0  # part of the jobs that are of an account left alone


KINDS = {
    "plain": Kind(),
    "three QOS": Kind(qos=(0, 3000, 10_000)),
    "5 % untouched": Kind(untouched=0.05),
    "50 % untouched": Kind(untouched=0.5),
}


class Turns(MemoryCluster):
    """A node for each job, whatever its size: every minute one ends and the first in line starts.

    Where jobs share nodes, one that ends may let eight start and the next none.
    """

    def _start_what_fits(self) -> None:
        running = sorted(self.running(), key=lambda job: job.start)
        if len(running) == len(self.nodes):
            self.end(running[0].id)
        taken = {job.hosts[0] for job in self.running()}
        free = [node.name for node in self.nodes if node.name not in taken]
        for name, job in zip(free, self.in_line(), strict=False):
            self.start(job.id, name)


class Queue:
    """Jobs of all sizes."""

    def __init__(self, seed: int, kind: Kind) -> None:
        self.cluster = Turns.of_nodes(NODES, GPUS)
        self.cluster.qos.update({f"qos{i}": weight for i, weight in enumerate(kind.qos)})
        self._draw, self._kind = np.random.default_rng(seed), kind
        for _ in range(WAITING + NODES):
            self.arrive()
        self.cluster.advance(MINUTE)

    def arrive(self) -> None:
        self.cluster.submit(
            gpus=int(self._draw.choice([1, 2, 4, 8])),
            limit=float(self._draw.choice([15, 60, 240, 720, 1440])) * MINUTE,
            priority=1000 + int(self._draw.integers(0, 5000)),
            user=f"user{int(self._draw.integers(40))}",
            qos=f"qos{int(self._draw.integers(len(self._kind.qos)))}",
            account="apart" if self._draw.random() < self._kind.untouched else "lab",
        )

    def pass_time(self) -> None:
        self.cluster.advance(MINUTE)
        self.arrive()


def run() -> dict[str, Any]:
    """Updates in each cycle, by kind of queue and policy."""
    return {"waiting": WAITING, "cycles": CYCLES, "seeds": len(SEEDS), "goal": GOAL} | {
        kind: {name: _over_seeds(name, KINDS[kind]) for name in POLICIES} for kind in KINDS
    }


def _over_seeds(policy: str, kind: Kind) -> dict[str, Any]:
    runs = [updates(policy, kind, seed) for seed in SEEDS]
    means = [round(statistics.mean(run[1:]), 2) for run in runs]
    found = {
        "first": [run[0] for run in runs],
        "means": means,
        "median": statistics.median(sent for run in runs for sent in run[1:]),
        "most": max(sent for run in runs for sent in run[1:]),
    }
    mean = round(statistics.mean(means), 2)
    print(kind, policy, mean, found, flush=True)
    return {"mean": mean, "kept": mean < GOAL, **found}


def updates(policy: str, kind: Kind, seed: int, cycles: int = CYCLES) -> list[int]:
    """How many were sent in each cycle."""
    queue = Queue(seed, kind)
    backend, cluster = RecordedBackend(queue.cluster), queue.cluster
    with tempfile.TemporaryDirectory() as folder:
        config = LiveConfig(
            policy=policy,
            act=ActConfig(exclude_accounts=("apart",)),
            journal=JournalConfig(path=str(Path(folder) / "journal.sqlite")),
            guardrails=GuardrailConfig(changes_per_hour=10**6),
        )
        with Journal.open(config.journal) as journal:
            clocks = Clocks(lambda: cluster.now, lambda: cluster.now)
            controller = LiveController(config, backend, journal, clocks=clocks)
            controller.enter(Mode.ACTIVE, "measuring")
            sent = []
            for _ in range(cycles + 1):
                sent.append(controller.cycle().sent)
                _check(controller, cluster)
                queue.pass_time()
    return sent


def _check(controller: LiveController, cluster: MemoryCluster) -> None:
    """The cluster would take the jobs as decided."""
    assert controller.plan is not None
    order, has = controller.plan.decision.order, cluster.snapshot().priorities
    stands = sorted(sorted(order), key=has.__getitem__, reverse=True)
    if list(order) != stands:
        raise AssertionError("the jobs do not stand as decided")
