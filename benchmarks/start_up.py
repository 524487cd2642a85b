"""What a user waits for: help, the first simulation, later ones, memory, imports."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SIMULATE = ("simulate", "synth:helios", "--cluster", "80x8", "--order", "fcfs")


def command(*arguments: str, **environment: str) -> float:
    """Seconds of wall time that one `dovetail` command takes."""
    return costs(*arguments, **environment)[0]


def costs(*arguments: str, **environment: str) -> tuple[float, float]:
    """The same, and seconds of processor time, which a busy machine does not change much."""
    began, before = time.perf_counter(), os.times()
    subprocess.run(
        [sys.executable, "-m", "dovetail.cli", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    after = os.times()
    used = after.children_user - before.children_user
    used += after.children_system - before.children_system
    return time.perf_counter() - began, used


def start_up(say: Callable[[str], None]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        first, used = costs(*SIMULATE, NUMBA_CACHE_DIR=folder)
        later = statistics.median(command(*SIMULATE, NUMBA_CACHE_DIR=folder) for _ in range(5))
    row = {
        "help_seconds": round(statistics.median(command("--help") for _ in range(9)), 3),
        "first_simulation_seconds": round(first, 1),
        "first_simulation_processor_seconds": round(used, 1),
        "later_simulation_seconds": round(later, 2),
    }
    say(
        f"--help {row['help_seconds']} s, first simulation {row['first_simulation_seconds']} s "
        f"with compilation ({row['first_simulation_processor_seconds']} s of processor time), "
        f"later ones {row['later_simulation_seconds']} s"
    )
    return row


def memory(say: Callable[[str], None]) -> dict[str, Any]:
    """Peak memory of a process that makes and simulates a million jobs."""
    code = (
        "import resource\n"
        "from benchmarks.simulator import replay\n"
        "from benchmarks.workloads import synthetic\n"
        "replay(synthetic(80, jobs=1_000_000, load=0.7), 80, 'fcfs')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    row = {"jobs": 1_000_000, "peak_megabytes": round(int(done.stdout) / 1024)}
    say(f"a million jobs: {row['peak_megabytes']} MB at the peak")
    return row


def imports(say: Callable[[str], None]) -> dict[str, Any]:
    """Reading a million rows of a published format."""
    from dovetail.traces.reader import read_trace

    rows = 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster_log.csv"
        _write_helios(path, rows)
        times = []
        for _ in range(3):
            began = time.perf_counter()
            assert len(read_trace(path)) == rows
            times.append(time.perf_counter() - began)
    row = {"format": "helios", "rows": rows, "seconds": round(statistics.median(times), 2)}
    say(f"importing a million rows: {row['seconds']} s")
    return row


def _write_helios(path: Path, rows: int) -> None:
    import polars as pl

    random = np.random.default_rng(0)
    seconds = np.sort(random.integers(0, 10_000_000, rows)).astype("m8[s]")
    submit = np.datetime64("2020-04-01", "ms") + seconds
    run = random.integers(1, 100_000, rows)
    wait = random.integers(0, 1000, rows)
    start = submit + wait.astype("m8[s]")
    text = "%Y-%m-%d %H:%M:%S"
    frame = pl.DataFrame(
        {
            "job_id": np.arange(rows),
            "user": random.integers(0, 200, rows),
            "vc": random.integers(0, 20, rows),
            "gpu_num": random.choice([1, 2, 4, 8, 16], rows),
            "cpu_num": 8,
            "node_num": 1,
            "state": "COMPLETED",
            "submit_time": submit,
            "start_time": start,
            "end_time": start + run.astype("m8[s]"),
            "duration": run,
            "queue": wait,
        }
    )
    times = pl.col("submit_time", "start_time", "end_time")
    prefix = pl.concat_str(pl.lit("u"), pl.col("user")).alias("user")
    frame.with_columns(times.dt.strftime(text), prefix).write_csv(path)


def run(say: Callable[[str], None] = print) -> dict[str, Any]:
    return {"start_up": start_up(say), "memory": memory(say), "import": imports(say)}


if __name__ == "__main__":
    print(json.dumps(run(), indent=2), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
