"""`make bench`: every figure that the README quotes, into benchmarks/results/.

python -m benchmarks.run [NAME] ...   # for example simulator start_up
"""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib import import_module
from pathlib import Path

QUICK = (
    "simulator", "demands", "month", "start_up", "optimiser", "environment", "inference",
    "placements", "lublin", "telemetry", "encoding", "wear", "training",
)  # fmt: skip
"""What `make bench` measures; before the last one torch must not have been imported."""

LONG = (
    "shipped", "rltune", "forward", "marl", "marl_loads", "marl_headroom", "adlro", "mig",
    "live_churn", "live_cycle", "live_memory",
    "live_plugin", "slurm", "slurm_promises", "backfill", "fidelity", "replays",
    "prediction", "promises", "node_facts", "planned", "ray_scaling",
)  # fmt: skip
"""Half an hour of training; 10,000 jobs on a real Slurm; half an hour of Slurm in faster time,
and ten minutes more."""

RESULTS = Path(__file__).parent / "results"


def main(names: list[str]) -> None:
    # One thread each: two on shared cores measure each other.
    for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ.setdefault(variable, "1")
    RESULTS.mkdir(exist_ok=True)
    unknown = set(names) - {*QUICK, *LONG}
    if unknown:
        raise SystemExit(f"no benchmark {', '.join(unknown)}; there are {', '.join(QUICK + LONG)}")
    for name in (*QUICK, *LONG):
        if name not in (names or QUICK):
            continue
        part = import_module(f"benchmarks.{name}")
        result = {**part.run(), "machine": platform.machine(), "cores": os.cpu_count()}
        path = RESULTS / f"{name}.json"
        path.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    main(sys.argv[1:])
