"""Predictions of real traces, made once and kept beside the models of the benchmarks.

forecast = stored_forecast(trace, "mixture")      # RICC's 380,000 jobs: two minutes, then a second

They are kept under a hash of the trace and of the code that predicts, so that none is ever stale.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

import dovetail.prediction
from dovetail.domain.trace import Trace
from dovetail.prediction import predict
from dovetail.prediction.distribution import Distribution

FOLDER = Path(__file__).parent / "models" / "forecasts"

SUMMARIES = frozenset({"error", "estimates", "gittins", "knowledge", "request", "score", "smith"})
"""Files that tell of a prediction that has been made."""


def stored_forecast(trace: Trace, predictor: str) -> Distribution:
    """As `predict`, from the file if there is one."""
    path = FOLDER / f"{predictor}-{trace.digest()}-{code_digest()}.npz"
    if not path.exists():
        made = predict(trace.jobs, predictor)
        FOLDER.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npz")
        np.savez(part, quantiles=made.quantiles, mean=made.mean, log_mean=made.log_mean)
        part.rename(path)
    with np.load(path) as kept:
        return Distribution(kept["quantiles"], kept["mean"], kept["log_mean"])


def code_digest() -> str:
    """Of every file of the package that predicts."""
    files = [
        file
        for file in sorted(Path(dovetail.prediction.__path__[0]).glob("*.py"))
        if file.stem not in SUMMARIES
    ]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
