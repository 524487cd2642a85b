"""How near a replay comes to a real Slurm: 1,000 mixed jobs through both, from its own slurm.conf.

    python -m benchmarks.run fidelity
    python -m benchmarks.fidelity --seeds 1 --jobs 1000 --speed 20 --out fidelity.json

Jobs with and without GPUs, gangs and whole nodes come to two partitions of different tiers. Slurm
runs them in faster time; the simulator gets the nodes, partitions and settings of that Slurm's
slurm.conf as `dovetail cluster import` reads them, and the submissions and run times that Slurm
saw. What Slurm needs to start a job and to clean up after it is multiplied by the speed: the
second figures leave as long a pause after every job as Slurm did in the middle.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.slurm_run import SUBMITTERS
from dovetail.domain.cluster import Cluster as Site
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import Floats, JobColumns
from dovetail.domain.trace import Trace
from dovetail.evaluation.recorded import gap_of
from dovetail.evaluation.run import Run
from dovetail.policies.configured import configured_policy
from dovetail.traces.clusters import read_cluster
from tests.live.slurm import Cluster, Options, why_not
from tests.live.slurm.clients import Job
from tests.live.slurm.options import NodeGroup, Partition

JOBS, SEEDS, SPEED, LOAD = 1000, (1,), 20.0, 1.1
NODES = (NodeGroup("p100", 3, gpus=4, cpus=16), NodeGroup("cpu", 3, gpus=0, cpus=16))
PARTITIONS = (Partition("batch"), Partition("urgent", settings=("PriorityTier=5",)))
SHAPES = (
    # share, nodes, GPUs and CPUs on each, whole nodes
    (0.30, 1, 0, 1, False), (0.15, 1, 0, 4, False), (0.05, 1, 0, 12, False),
    (0.04, 2, 0, 8, False), (0.03, 1, 0, 1, True),
    (0.25, 1, 1, 2, False), (0.10, 1, 2, 4, False), (0.05, 1, 4, 8, False), (0.03, 2, 4, 4, False),
)  # fmt: skip
MINUTES = (2, 5, 10, 20, 30, 60)
GB_PER_CPU = 2


@dataclass(frozen=True, slots=True)
class Ask:
    """One job as it is drawn; seconds."""

    number: int
    arrival: float
    run: float
    minutes: int
    nodes: int
    gpus: int  # on each node
    cpus: int  # on each node
    exclusive: bool
    partition: str

    def job(self) -> Job:
        words = [f"--nodes={self.nodes}", "--ntasks-per-node=1", f"--cpus-per-task={self.cpus}"]
        words += [f"--mem={GB_PER_CPU * self.cpus}G", *(["--exclusive"] * self.exclusive)]
        return Job(
            gpus=self.gpus, seconds=self.run, name=f"job-{self.number}", minutes=self.minutes,
            partition=self.partition, extra=tuple(words),
        )  # fmt: skip


def draw(seed: int, count: int) -> tuple[Ask, ...]:
    """The same jobs for the same seed; they ask for a little more than the nodes can do."""
    rng = np.random.default_rng(seed)
    shares = np.array([shape[0] for shape in SHAPES])
    shapes = [SHAPES[i] for i in rng.choice(len(SHAPES), count, p=shares / shares.sum())]
    runs = np.clip(150.0 * np.exp(0.9 * rng.standard_normal(count)), 30.0, 3600.0).round()
    part = [nodes * max(gpus / 12, (16 if whole else cpus) / 96)
            for _, nodes, gpus, cpus, whole in shapes]  # fmt: skip
    arrivals = np.sort(rng.random(count)) * float(np.sum(runs * part)) / LOAD
    asked = [_limit(run * rng.uniform(1.2, 4.0)) for run in runs]
    return tuple(
        Ask(
            i, float(arrivals[i] - arrivals[0]), float(runs[i]), asked[i], *shapes[i][1:],
            "urgent" if rng.random() < 0.1 else "batch",
        )
        for i in range(count)
    )  # fmt: skip


def _limit(seconds: float) -> int:
    return next((m for m in MINUTES if 60 * m >= seconds + 30), math.ceil(seconds / 60) + 1)


def run(seeds: Sequence[int] = SEEDS, jobs: int = JOBS, speed: float = SPEED) -> dict[str, Any]:
    options = Options(
        nodes=NODES, partitions=PARTITIONS, auth="none", speed=speed, weights=(), max_jobs=20_000
    )
    if (reason := why_not(options)) is not None:
        raise SystemExit(f"fidelity cannot be measured here: {reason}")
    found = {str(seed): one(draw(seed, jobs), options) for seed in seeds}
    return {"jobs": jobs, "speed": speed, "seeds": found}


def one(asks: tuple[Ask, ...], options: Options) -> dict[str, Any]:
    """One workload through both."""
    with Cluster(options) as slurm:
        site = read_cluster(slurm.layout.slurm_conf).cluster
        _submit_all(slurm, asks, options.speed)
        names = {f"job-{ask.number}" for ask in asks}
        patience = 120.0 + 4 * (asks[-1].arrival + 3600) / options.speed
        slurm.wait_until(
            lambda: names <= {job.name for job in slurm.history()}, timeout=patience, every=1.0
        )
        done = {job.name: job for job in slurm.history()}
    times = np.array(
        [(row.submit, row.start, row.end) for row in (done[f"job-{a.number}"] for a in asks)], float
    )
    times -= times[:, 0].min()
    pause = _pause(times, [done[f"job-{a.number}"].nodes for a in asks])
    waits = {f"pause {p:.0f} s": _replayed(asks, site, times, p) for p in (0.0, pause)}
    real = times[:, 1] - times[:, 0]
    return {
        "wait_mean": float(real.mean()),
        "pause": pause,
        "replays": {
            label: asdict(gap) for label, w in waits.items() if (gap := gap_of(label, real, w))
        },
    }


def _submit_all(slurm: Cluster, asks: Sequence[Ask], speed: float) -> None:
    began = time.monotonic()

    def submit(ask: Ask) -> None:
        time.sleep(max(0.0, began + ask.arrival / speed - time.monotonic()))
        slurm.submit_job(ask.job())

    with ThreadPoolExecutor(SUBMITTERS) as pool:
        list(pool.map(submit, asks))


def _pause(times: Floats, nodes: Sequence[str]) -> float:
    """The median time from an end to the next start on the same nodes, where a job waited."""
    gaps = []
    for row, (submit, start, _) in enumerate(times):
        before = [
            end for r, (_, _, end) in enumerate(times) if nodes[r] == nodes[row] and end <= start
        ]
        if before and submit < max(before):
            gaps.append(start - max(before))
    return float(np.median([gap for gap in gaps if gap < 30.0] or [0.0]))


def _replayed(asks: Sequence[Ask], site: Site, times: Floats, pause: float) -> Floats:
    """Waits in the simulator, under the settings of slurm.conf."""
    order = np.argsort(times[:, 0], kind="stable")
    rows = [asks[i] for i in order]
    jobs = JobColumns(
        submit=times[order, 0],
        run=times[order, 2] - times[order, 1] + pause,
        gpus=[a.nodes * a.gpus for a in rows],
        nodes=[a.nodes if a.nodes > 1 else 0 for a in rows],
        cpus=[a.nodes * a.cpus for a in rows],
        memory=[float(a.nodes * a.cpus * GB_PER_CPU) for a in rows],
        limit=[60.0 * a.minutes for a in rows],
        partition=[a.partition for a in rows],
        exclusive=[a.exclusive for a in rows],
    ).build()
    policy = configured_policy(site)
    assert policy is not None
    told = Estimates("limit", jobs.limit)
    schedule = Run(Trace(jobs), replace(site, limits=()), policy, told).replay()
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return schedule.wait[back]


def table(found: dict[str, Any]) -> str:
    lines = [f"{found['jobs']:,} jobs, clock ×{found['speed']:g}; seconds"]
    for seed, one_seed in found["seeds"].items():
        lines.append(f"seed {seed}: real Slurm waits {one_seed['wait_mean']:.0f} on average")
        for label, gap in one_seed["replays"].items():
            error = gap["replayed_wait"] / gap["recorded_wait"] - 1
            lines.append(
                f"  {label:14} {gap['replayed_wait']:7.0f} {error:+7.1%}  starts off by "
                f"{gap['error_p50']:.0f} (median), {gap['error_p90']:.0f} (p90); "
                f"{gap['near']:.0%} within 60 s"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)), help="comma-separated")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--speed", type=float, default=SPEED)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = run([int(seed) for seed in given.seeds.split(",")], given.jobs, given.speed)
    print(table(found))
    if given.out:
        given.out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
