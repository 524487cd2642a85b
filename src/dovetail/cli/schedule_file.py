"""A schedule as Parquet: one row per job, with the nodes and GPUs that it got."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from dovetail.domain.schedule import RAN, Schedule
from dovetail.traces.writer import write_frame


def write_schedule(schedule: Schedule, path: Path) -> None:
    """Write every job, rejected ones too; the file appears whole or not at all."""
    write_frame(schedule_frame(schedule), path)


def schedule_frame(schedule: Schedule) -> pl.DataFrame:
    """Times in seconds; a rejected job has its reason, no times and empty lists."""
    reasons = pl.Series([None, *schedule.reasons[RAN + 1 :]], dtype=pl.String)
    jobs = schedule.trace.jobs
    return pl.DataFrame(
        {
            "job_id": pl.Series(jobs.ids.tolist(), dtype=pl.String),
            "submit": jobs.submit,
            "eligible": schedule.since,
            "start": schedule.start,
            "end": schedule.end,
            "wait": schedule.wait,
            "run": schedule.run,
            "estimate": schedule.estimate,
            "backfilled": schedule.backfilled,
            "restarts": schedule.restart_counts,
            "rejected": reasons.gather(schedule.rejected),
            **_places(schedule),
        }
    ).with_columns(pl.col("eligible", "start", "end", "wait", "run", "estimate").fill_nan(None))


def _places(schedule: Schedule) -> dict[str, pl.Series]:
    """Per job: names of its nodes, and the GPU numbers on each."""
    names = pl.Series([node.name for node in schedule.cluster.nodes], dtype=pl.String)
    # Few different sets of GPUs occur, however many jobs there are: spell each out once.
    masks, which = np.unique(schedule.chunk_gpus, return_inverse=True)
    numbers = pl.Series([_bits(int(mask)) for mask in masks], dtype=pl.List(pl.Int64))
    count = len(schedule.trace)
    chunks = pl.DataFrame(
        {
            "job": np.repeat(np.arange(count), np.diff(schedule.chunk_offset)),
            "nodes": names.gather(schedule.chunk_node),
            "gpus": numbers.gather(which),
        }
    )
    grouped = chunks.group_by("job", maintain_order=True).agg("nodes", "gpus")
    placed = pl.DataFrame({"job": np.arange(count)}).join(
        grouped, on="job", how="left", maintain_order="left"
    )
    return {
        "nodes": placed["nodes"].fill_null(pl.Series([[]], dtype=pl.List(pl.String))),
        "gpus": placed["gpus"].fill_null(pl.Series([[]], dtype=pl.List(pl.List(pl.Int64)))),
    }


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]
