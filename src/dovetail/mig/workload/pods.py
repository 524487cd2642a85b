"""Real pods that share GPUs (Alibaba 2023, `openb`) as jobs for sliced GPUs.

    pods = mig_pods("openb_pod_list_default.csv", seed=0)
    busier = mig_pods("openb_pod_list_default.csv", seed=0, compress=100.0)

A pod that asks for m thousandths of a GPU is taken to do, in its recorded time, what m/1000 of a
GPU can do: on s compute slices it takes m/1000 / min(m/1000, s/7) of that time, so that a smaller
slice slows it down and a larger one is of no use. It asks for the same share of 40 GB. Deadlines
are not recorded: they are drawn as on the MIG day. Pods of several GPUs, and pods that never ran,
are left out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from dovetail.domain.errors import ConfigError, TraceError
from dovetail.domain.jobs import JobColumns
from dovetail.domain.trace import Trace
from dovetail.mig.workload.day import RELAXED
from dovetail.mig.workload.jobs import SIZES, MigWorkload, times_table
from dovetail.traces.formats.openb import OPENB
from dovetail.traces.synthetic.streams import Streams
from dovetail.traces.table import silent

MEMORY_GB = 40.0
WHOLE = 1000.0
"""Thousandths of a GPU."""


def mig_pods(
    path: str | Path,
    seed: int = 0,
    slack: tuple[float, float] = RELAXED,
    compress: float = 1.0,
) -> MigWorkload:
    """The pods of a file; `compress` divides the time between submissions, for a busier cluster."""
    if not compress > 0:
        raise ConfigError(f"compress is {compress}, expected above 0")
    frame = OPENB.read(Path(path), silent).frame
    milli = frame["gpu_milli"].cast(pl.Float64).fill_null(WHOLE).to_numpy()
    run = frame["run"].cast(pl.Float64).to_numpy()
    submit = frame["submit"].cast(pl.Float64).to_numpy()
    usable = (frame["gpus"].to_numpy() == 1) & (milli > 0) & (run > 0)
    usable &= np.isfinite(submit) & np.isfinite(run)
    rows = np.flatnonzero(usable)
    if len(rows) == 0:
        raise TraceError(f"{path}: no pod that ran on one GPU or a part of it")
    submit = submit[rows]
    rows = rows[np.argsort(submit, kind="stable")]
    submit, run, share = np.sort(submit), run[rows], np.minimum(milli[rows] / WHOLE, 1.0)
    submit = (submit - submit[0]) / compress
    given = np.minimum(share[:, None], np.array(SIZES) / 7.0)
    by_size = run[:, None] * share[:, None] / given
    stretch = Streams(seed)("slack").uniform(*slack, len(rows))
    ids = frame["id"].cast(pl.String).to_list()
    jobs = JobColumns(
        ids=[ids[row] for row in rows.tolist()],
        submit=submit,
        run=by_size[:, 0],
        gpus=np.ones(len(rows), np.int64),
        memory=share * MEMORY_GB,
        deadline=submit + stretch * by_size[:, -1],
    )
    notes = (
        f"{len(usable) - len(rows)} pods left out: several GPUs, or no recorded run",
        f"deadlines drawn with seed {seed}, not recorded",
        f"time between submissions divided by {compress:g}",
    )
    return MigWorkload(Trace(jobs.build(), "openb-pods", notes), times_table(by_size))
