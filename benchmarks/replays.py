"""Real histories as an operator has them: from the text of sacct and slurm.conf alone.

    python -m benchmarks.run replays
    python -m benchmarks.replays kth ub --out replays.json       # adds to what is there

Each trace is written as `sacct --parsable2` and a slurm.conf would have it, imported again by the
command line's own functions, and compared: what was recorded, Slurm as configured, other orders.
The nodes are those that are known of the machines; UB's are made up to fit the work of that week.
Each case runs in a process of its own: its seconds are of the processor, its memory the most that
the process ever had, the reading of the text included.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.workloads import folder
from dovetail.evaluation.comparison import compare
from dovetail.policies.configured import configured_policy
from dovetail.traces.clusters import read_cluster
from dovetail.traces.reader import read_trace

BACKFILL = "SchedulerType=sched/backfill\nPriorityType=priority/basic\n"


@dataclass(frozen=True, slots=True)
class Case:
    """A trace of the folder, how many processors a node has, and the lines of slurm.conf."""

    file: str  # empty: drawn
    per_node: int  # processors; 0: the trace tells nodes
    conf: str
    drawn: int = 0  # jobs, where there is no file
    policies: tuple[str, ...] = ("fcfs", "saf")


CASES = {
    "ub": Case(
        "ubhpc_week.parquet", 0,
        "SchedulerParameters=bf_interval=120,bf_window=4320,bf_max_job_test=2500,bf_max_job_user=100\n"
        "PriorityType=priority/multifactor\nPriorityWeightAge=50000\nPriorityWeightFairshare=80000\n"
        "PriorityWeightJobSize=200000\nPriorityWeightQOS=50000\n"
        "NodeName=cpn-i[001-200] CPUs=40 RealMemory=187000 Feature=CPU-Gold-6230\n"
        "NodeName=cpn-h[001-120] CPUs=32 RealMemory=187000 Feature=CPU-Gold-6130\n"
        "NodeName=big[1-4] CPUs=32 RealMemory=754000\n"
        "NodeName=gpu-v[01-16] CPUs=40 RealMemory=187000 Gres=gpu:v100:2 Feature=CPU-Gold-6230\n"
        "PartitionName=general-compute Nodes=ALL MaxTime=3-00:00:00\n"
        "PartitionName=debug Nodes=cpn-h001,gpu-v01 MaxTime=01:00:00 PriorityTier=10\n",
    ),
    "mit": Case(
        "mit_supercloud_sample.parquet", 0,
        BACKFILL + "NodeName=g[001-224] CPUs=40 RealMemory=384000 Gres=gpu:v100:2 "
        "Feature=xeon-g6,6248\nNodeName=p[001-480] CPUs=48 RealMemory=192000 Feature=xeon-p8\n"
        "NodeName=e[01-40] CPUs=28 RealMemory=256000 Feature=xeon-e5\n",
    ),
    "kth": Case("pwa_kth_sp2_1996.parquet", 1, BACKFILL + "NodeName=n[001-100] CPUs=1\n"),
    "lanl": Case(
        "pwa_lanl_cm5_1994.parquet", 32, BACKFILL + "NodeName=n[01-32] CPUs=32\n",
    ),
    "ricc": Case(
        "pwa_ricc_2010.parquet", 8, BACKFILL + "NodeName=n[0001-1024] CPUs=8 RealMemory=12288\n",
    ),
    "month": Case(
        "", 0,
        BACKFILL + "NodeName=g[01-16] CPUs=64 RealMemory=512000 Gres=gpu:a100:8\n"
        "NodeName=c[01-02] CPUs=64 RealMemory=256000\nPartitionName=batch Nodes=ALL\n"
        "PartitionName=gpu Nodes=g[01-16] PriorityTier=5\n", 50_000,
    ),
    "large month": Case(
        "", 0,
        BACKFILL + "NodeName=g[001-500] CPUs=64 RealMemory=512000 Gres=gpu:a100:8\n"
        "NodeName=c[0001-1500] CPUs=64 RealMemory=256000\nPartitionName=batch Nodes=ALL\n"
        "PartitionName=gpu Nodes=g[001-500] PriorityTier=5\n", 1_000_000,
    ),
}  # fmt: skip


def run(names: Sequence[str] = tuple(CASES)) -> dict[str, Any]:
    found = {}
    for name in names:
        case = CASES[name]
        if case.file and not (folder() / case.file).exists():
            continue
        print(f"{name} ...", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as place:
            texts = Path(place)
            jobs, started = _apart(write, case, texts)
            found[name] = {"jobs": jobs, **_apart(replay, case, texts, started)}
    return {"traces": found}


def _apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function answers in a process of its own, whose memory is then its alone."""
    with ProcessPoolExecutor(1, get_context("spawn")) as alone:
        return alone.submit(function, *arguments).result()


def write(case: Case, place: Path) -> tuple[int, bool]:
    """The two texts that an operator has; how many jobs there are, and whether starts are known."""
    frame = pl.read_parquet(folder() / case.file) if case.file else _month(case.drawn)
    _write_sacct(frame, place / "sacct.txt", case.per_node)
    (place / "slurm.conf").write_text(case.conf)
    return len(frame), "start_time" in frame.columns


def replay(case: Case, place: Path, started: bool) -> dict[str, Any]:
    """The three commands, and what each took."""
    began = time.process_time()
    trace = read_trace(place / "sacct.txt", repair=("all",))
    read = time.process_time() - began
    cluster = read_cluster(place / "slurm.conf").cluster
    configured = configured_policy(cluster)
    assert configured is not None
    began = time.process_time()
    table = compare(trace, cluster, [configured, *case.policies])
    # Where no starts were recorded, those written above say nothing.
    recorded = table.recorded if started else None
    return {
        "replayed": len(trace),
        "import_seconds": read,
        "compare_seconds": time.process_time() - began,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "recorded_wait": None if recorded is None else recorded.metrics["wait_mean"],
        "gap": asdict(recorded.gap) if recorded and recorded.gap else None,
        "rows": {
            row.label: {
                key: row.metrics[key]
                for key in ("wait_mean", "bsld_mean", "unfinished", "sim_seconds")
            }
            for row in table.rows
        },
    }  # fmt: skip


def _write_sacct(frame: pl.DataFrame, path: Path, per_node: int) -> None:
    """As `sacct --parsable2 -X` would have printed it; jobs without a start began at once."""

    def column(name: str, default: Any) -> pl.Expr:
        return pl.col(name) if name in frame.columns else pl.lit(default)

    cpus, nodes = column("req_cpus", 1), column("num_nodes", 1)
    if per_node:
        nodes = (cpus / per_node).ceil().cast(pl.Int64)
    start = column("start_time", None).cast(pl.Float64)
    submit = pl.col("submit_time").cast(pl.Float64) + 1e9  # a date
    gpus = column("req_gpus", 0).fill_null(0)
    tres = pl.format(
        "cpu={},mem={}M,node={}", cpus.cast(pl.Int64),
        (column("req_mem_gb", 0.0).fill_null(0.0) * 1024).round().cast(pl.Int64), nodes,
    )  # fmt: skip
    tres = pl.when(gpus > 0).then(pl.format("{},gres/gpu={}", tres, gpus)).otherwise(tres)
    table = frame.select(
        JobIDRaw=pl.int_range(1, pl.len() + 1),
        User=column("user", "").cast(pl.String),
        Partition=column("vc", "").cast(pl.String),
        QOS=column("qos", "").cast(pl.String),
        Submit=submit.round(2),
        Start=pl.coalesce(start + 1e9, submit).round(2),
        ElapsedRaw=pl.col("duration").cast(pl.Float64),
        TimelimitRaw=(column("req_time", None).cast(pl.Float64) / 60).ceil(),
        NNodes=nodes,
        State=pl.lit("COMPLETED"),
        AllocTRES=tres,
        Constraints=column("constraint", "").cast(pl.String),
    )
    table.write_csv(path, separator="|", quote_style="never")


def _month(count: int) -> pl.DataFrame:
    """Jobs of 30 days, three fifths without GPUs."""
    rng, median = np.random.default_rng(1), 900 if count < 1_000_000 else 1400
    gpus = np.where(rng.random(count) < 0.6, 0, rng.choice([1, 1, 1, 2, 4, 8, 16], count))
    run_time = np.clip(median * np.exp(1.6 * rng.standard_normal(count)), 10, 2 * 86_400)
    return pl.DataFrame(
        {
            "submit_time": np.sort(rng.random(count)) * 30 * 86_400,
            "duration": run_time.round(),
            "req_gpus": gpus,
            "req_cpus": np.where(gpus > 0, 4 * gpus, rng.choice([1, 2, 4, 8, 32], count)),
            "req_mem_gb": np.where(gpus > 0, 32.0 * gpus, 8.0),
            "num_nodes": np.maximum(1, gpus // 8),
            "req_time": np.ceil(run_time * rng.uniform(1.1, 6.0, count) / 1800) * 1800,
            "user": rng.choice(["ann", "bob", "cat", "dan", "eve"], count),
            "vc": np.where(gpus > 0, "gpu", "batch"),
        }
    )


def table(found: dict[str, Any]) -> str:
    lines = []
    for name, case in found["traces"].items():
        waits = ", ".join(f"{n} {row['wait_mean']:.0f}" for n, row in case["rows"].items())
        lines.append(
            f"{name:11} {case['replayed']:8,} of {case['jobs']:,} jobs, import "
            f"{case['import_seconds']:.1f} s, compare {case['compare_seconds']:.1f} s, "
            f"{case['peak_gb']:.1f} GB; mean waits: "
            f"recorded {_shown(case['recorded_wait'])}, {waits}"
        )
    return "\n".join(lines)


def _shown(seconds: float | None) -> str:
    return "unknown" if seconds is None else f"{seconds:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(CASES))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found: dict[str, Any] = {"traces": {}}
    if given.out and given.out.exists():
        found = json.loads(given.out.read_text())
    for name in given.names:  # what has been measured stays, whatever comes
        found["traces"] |= run([name])["traces"]
        if given.out:
            given.out.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    print(table(found))


if __name__ == "__main__":
    main()
