"""A month of a mixed cluster: a million jobs with and without GPUs, memory and limits, from sacct.

    python -m benchmarks.run month

2,000 nodes of 8 GPUs, 64 CPUs and 512 GB; a third of the jobs asks for CPUs only. 200 users, each
with a limit of its own, so that hardly two users' jobs ask for the same. One job in ten goes to a
partition of a higher tier, one in fifty depends on another, one in twenty is of an array with a
throttle. 300 nodes fail or are drained, and 200 are reserved for a night. The text that sacct
would give is written first; what is timed is its import and the replay.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.simulator import queue_depth
from benchmarks.workloads import GPUS_PER_NODE, synthetic
from dovetail.domain.cluster import Cluster, Node, Partition
from dovetail.domain.limits import Each, Limit
from dovetail.domain.outages import NodeReservation, Outage, OutageState
from dovetail.domain.policy import Backfill
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import simulate
from dovetail.traces.reader import read_trace

NODES, JOBS, USERS = 2000, 1_000_000, 200
CPUS, MEMORY = 64, 512
USER_GPUS, USER_CPUS = 1024, 8192
"""The most that a user may have at once."""

OUTAGES, RESERVED = 300, 200
"""Nodes that fail or are drained once, and nodes that are reserved for a night."""
ARRAY, THROTTLE = 20, 5
"""Tasks of an array, and how many of them run at once."""
BEGIN, HOUR, DAY = 1_700_000_000, 3600.0, 86_400.0
ORDERS = ("fcfs", "saf")


def site(days: float) -> Cluster:
    random, everywhere = np.random.default_rng(1), frozenset(range(NODES))
    broken = random.choice(NODES, OUTAGES, replace=False).tolist()
    starts = BEGIN + DAY * days * random.random(OUTAGES)
    lengths = HOUR * random.exponential(12.0, OUTAGES)
    night = BEGIN + DAY * round(days / 2)
    return Cluster(
        tuple(Node(f"n{i}", GPUS_PER_NODE, cpus=CPUS, memory_gb=MEMORY) for i in range(NODES)),
        (Partition("batch", everywhere), Partition("urgent", everywhere, tier=2)),
        name=f"{NODES}x{GPUS_PER_NODE}",
        limits=(Limit(each=Each.USER, gpus=USER_GPUS, cpus=USER_CPUS),),
        outages=tuple(
            Outage(frozenset({node}), start, start + length, state)
            for node, start, length, state in zip(
                broken, starts.tolist(), lengths.tolist(), OUTAGES * tuple(OutageState),
                strict=False,
            )
        ),
        reservations=(
            NodeReservation(frozenset(range(RESERVED)), night, night + 8 * HOUR, "upkeep"),
        ),
    )  # fmt: skip


def write_sacct(path: Path, jobs: int, load: float) -> None:
    """Jobs of a Helios-like workload, every third without its GPUs, as sacct would print them."""
    drawn, random = synthetic(NODES, jobs, load).jobs, np.random.default_rng(0)
    cpus_only = np.arange(jobs) % 3 == 0
    gpus = np.where(cpus_only, 0, drawn.gpus)
    cpus = np.where(cpus_only, 2 ** random.integers(0, 6, jobs), 6 * gpus)
    per_cpu = np.where(cpus_only, 2 ** random.integers(1, 4, jobs), random.integers(2, 8, jobs))
    submit, run = drawn.submit.astype(np.int64), np.maximum(1, drawn.run.astype(np.int64))
    limit = np.ceil(run * random.uniform(1.0, 8.0, jobs) / 60).astype(np.int64)
    number = np.arange(1, jobs + 1)
    in_array = number // ARRAY % ARRAY == 0
    frame = pl.DataFrame(
        {
            "number": number,
            "array": np.where(in_array, number // ARRAY * ARRAY, 0),
            "task": number % ARRAY,
            "before": np.where(number % 50 == 7, number - 3, 0),
            "Partition": np.where(number % 10 == 3, "urgent", "batch"),
            "User": random.integers(USERS, size=jobs),
            "Submit": BEGIN + submit,
            "Start": BEGIN + submit,
            "ElapsedRaw": run,
            "TimelimitRaw": limit,
            "cpus": cpus,
            "memory": per_cpu * cpus,
            "gpus": gpus,
        }
    )
    tres = pl.format("cpu={},mem={}G", "cpus", "memory")
    with_gpus = pl.format("cpu={},mem={}G,gres/gpu={}", "cpus", "memory", "gpus")
    of_array, depends = pl.col("array") > 0, pl.col("before") > 0
    frame.select(
        pl.when(of_array)
        .then(pl.format("{}_{}", "array", "task"))
        .otherwise(pl.format("{}", "number"))
        .alias("JobID"),
        pl.format("u{}", "User").alias("User"),
        pl.col("Partition", "Submit", "Start", "ElapsedRaw", "TimelimitRaw"),
        pl.lit("COMPLETED").alias("State"),
        pl.when(pl.col("gpus") > 0).then(with_gpus).otherwise(tres).alias("ReqTRES"),
        pl.when(of_array)
        .then(pl.lit(f"sbatch -a 0-{ARRAY - 1}%{THROTTLE} a.sh"))
        .when(depends)
        .then(pl.format("sbatch --dependency=afterany:{} a.sh", "before"))
        .otherwise(pl.lit("sbatch a.sh"))
        .alias("SubmitLine"),
    ).write_csv(path, separator="|", quote_style="never")


def run(say: Callable[[str], None] = print, jobs: int = JOBS, load: float = 1.2) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sacct.txt"
        write_sacct(path, jobs, load)
        began = time.perf_counter(), time.process_time()
        trace = read_trace(path)
        imported = time.perf_counter() - began[0], time.process_time() - began[1]
    say(f"import of {len(trace):,} jobs: {imported[0]:.1f} s, {imported[1]:.1f} s of processor")
    rows, days = [], float(np.ptp(trace.jobs.submit)) / DAY
    for order in ORDERS:
        began = time.perf_counter(), time.process_time()
        found = simulate(
            trace, site(days), ORDERINGS[order], PLACEMENTS["best-fit"], Backfill.EASY,
            make_estimates(trace, "limit"),
        )  # fmt: skip
        row = {
            "order": order,
            "seconds": round(time.perf_counter() - began[0], 1),
            "processor_seconds": round(time.process_time() - began[1], 1),
            "simulated_seconds": round(found.sim_seconds, 1),
            "waiting_mean": round(queue_depth(found)[0], 1),
            "rejected": int(np.count_nonzero(found.rejected)),
        }
        rows.append(row)
        say(
            f"{order}: {row['seconds']} s, {row['processor_seconds']} s of processor, "
            f"{row['waiting_mean']} waiting"
        )
    gigabytes = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)
    say(f"{gigabytes} GB at most")
    return {
        "jobs": len(trace),
        "nodes": NODES,
        "days": round(days, 1),
        "outages": OUTAGES,
        "notes": list(trace.notes),
        "import_seconds": round(imported[0], 1),
        "import_processor_seconds": round(imported[1], 1),
        "replays": rows,
        "gigabytes": gigabytes,
    }
