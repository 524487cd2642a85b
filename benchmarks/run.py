"""`make bench`: every figure that the README quotes, into benchmarks/results/.

python -m benchmarks.run [NAME] ...   # for example simulator start_up
"""

from __future__ import annotations

import json
import os
import platform
import sys
from pathlib import Path

QUICK = (
    "simulator", "start_up", "optimiser", "environment", "training", "placements", "lublin",
    "inference",
)  # fmt: skip
"""What `make bench` measures; the rest trains for half an hour."""

RESULTS = Path(__file__).parent / "results"


def main(names: list[str]) -> None:
    # One thread each: two on shared cores measure each other.
    for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ.setdefault(variable, "1")
    from benchmarks import (
        environment,
        inference,
        lublin,
        optimiser,
        placements,
        rltune,
        simulator,
        start_up,
        training,
    )

    RESULTS.mkdir(exist_ok=True)
    parts = {
        "simulator": simulator,
        "start_up": start_up,
        "optimiser": optimiser,
        "environment": environment,
        "training": training,
        "placements": placements,
        "lublin": lublin,
        "inference": inference,
        "rltune": rltune,
    }
    for name, part in parts.items():
        if name not in (names or QUICK):
            continue
        result = {**part.run(), "machine": platform.machine(), "cores": os.cpu_count()}
        path = RESULTS / f"{name}.json"
        path.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    main(sys.argv[1:])
