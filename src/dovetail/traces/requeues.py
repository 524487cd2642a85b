"""Runs of one job before its last: `sacct --duplicates` has a record for each.

A run that ended because others went first (PREEMPTED, REQUEUED) held its nodes all the same: it is
a job of its own, and the next run follows it. One that ended with its node is left out: a replay
has such failures as outages of nodes, under which jobs begin again by themselves.
"""

from __future__ import annotations

import polars as pl

from dovetail.traces.table import RawTable

MARK = "#"
"""Between a job's id and the number of an earlier run."""


def follow_runs(table: RawTable) -> None:
    """Earlier runs of a job by names of their own (`17#1`), each next one after the one before."""
    table.frame = table.frame.sort("recorded_start", maintain_order=True)
    known = pl.col("raw_id").is_not_null()
    earlier = known & ~pl.col("raw_id").is_last_distinct()
    failed = pl.col("state").str.starts_with("NODE_FAIL")
    table.leave_out(
        earlier & (failed | (pl.col("run") <= 0)),
        "earlier run of a job that ended with its node",
        "earlier runs of jobs that ended with their nodes",
    )
    number = pl.int_range(1, pl.len() + 1).over("raw_id")
    several = known & (pl.len().over("raw_id") > 1)
    follows = several & (number > 1)
    before = pl.col("id") + MARK + (number - 1).cast(pl.String)
    table.frame = table.frame.with_columns(
        id=pl.when(several & (number < pl.len().over("raw_id")))
        .then(pl.col("id") + MARK + number.cast(pl.String))
        .otherwise("id"),
        dependency=pl.when(follows).then("afterany:" + before).otherwise("dependency"),
        earliest=pl.when(follows).then(pl.col("submit").min().over("raw_id")).otherwise("earliest"),
        restarts=pl.when(follows).then(number - 1.0).otherwise("restarts"),
    )
    table.note(
        table.count(pl.col("id").str.contains(MARK, literal=True)),
        "earlier run of a requeued job is a job of its own",
        "earlier runs of requeued jobs are jobs of their own",
    )
    table.frame = table.frame.sort("line")
