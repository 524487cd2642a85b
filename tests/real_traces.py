"""Real traces for tests: found beside the repository or by DOVETAIL_TRACES, else skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[1].parent / "shared" / "traces"


def real_trace(name: str) -> Path:
    """The Parquet file of a real trace; skips the test where there is none."""
    folder = Path(os.environ.get("DOVETAIL_TRACES", _BESIDE))
    path = folder / f"{name}.parquet"
    if not path.is_file():
        pytest.skip(f"no real trace {name}: set DOVETAIL_TRACES to the folder that has it")
    return path
