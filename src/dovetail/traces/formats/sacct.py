"""Slurm accounting: the `|`-separated text of `sacct --parsable2`, with or without steps."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from dovetail.domain.partition_lists import SEVERAL
from dovetail.slurm.durations import NO_LIMIT
from dovetail.slurm.sacct import spelled
from dovetail.slurm.states import GOING
from dovetail.traces.cells import Cells, read_csv
from dovetail.traces.requeues import follow_runs
from dovetail.traces.source import column_names
from dovetail.traces.submissions import submission_columns
from dovetail.traces.table import Format, Progress, RawTable, calendar
from dovetail.traces.times import clocks, durations
from dovetail.traces.tres import tres_columns

# `--exclusive=user` and `=mcs` share nodes, if only with some.
_EXCLUSIVE = r"(?:^|\s)--exclusive(?:\s|$)"


def sniff(path: Path, head: bytes) -> bool:
    names = {name.lower() for name in column_names(head, "|")}
    return bool(names & {"jobid", "jobidraw"}) and bool(names & {"submit", "start", "state"})


def read(path: Path, progress: Progress) -> RawTable:
    cells = read_csv(path, separator="|", quote=None)
    # Field names may be typed in any case on sacct's command line, and come back as typed.
    cells.frame = cells.frame.rename(spelled)
    progress(0.3, "reading columns")
    return canonical(cells)


def canonical(cells: Cells) -> RawTable:
    """sacct's fields as canonical columns."""
    cells.require("Submit", "Start")
    if "JobID" not in cells and "JobIDRaw" not in cells:
        cells.require("JobID")
    steps = _drop_steps(cells)
    allocated, requested = cells.names("AllocTRES"), cells.names("ReqTRES")
    exclusive = cells.names("SubmitLine").str.contains(_EXCLUSIVE).fill_null(value=False)
    submitted = submission_columns(
        cells.names("SubmitLine"), cells.times("Submit"), requested, cells.names("Partition")
    )
    table = cells.table(
        {
            "id": cells.names("JobID" if "JobID" in cells else "JobIDRaw"),
            "raw_id": cells.names("JobIDRaw" if "JobIDRaw" in cells else "JobID"),
            "submitted": cells.times("Submit"),
            "eligible": cells.times("Eligible"),
            "submit": pl.max_horizontal("submitted", "eligible"),
            "recorded_start": cells.times("Start"),
            "end": cells.times("End"),
            "elapsed": _elapsed(cells),
            "run": pl.coalesce("elapsed", pl.col("end") - pl.col("recorded_start")),
            "limit": _limit(cells),
            "state": cells.names("State"),
            "allocated": allocated,
            "nodes": cells.numbers("NNodes"),
            "user": cells.names("User"),
            "qos": cells.names("QOS"),
            "priority": cells.numbers("Priority"),
            "name": cells.names("JobName"),
            "account": cells.names("Account"),
            "work_dir": cells.names("WorkDir"),
            "submit_line": cells.names("SubmitLine"),
            "array": cells.names("JobID").str.extract(r"^(\d+)_"),
            "restarts": cells.numbers("Restarts"),
            "exclusive": exclusive,
            **_resources(allocated, requested, exclusive),
            **submitted,
            "constraint": _either(cells.names("Constraints"), submitted["constraint"]),
            "reservation": _either(cells.names("Reservation"), submitted["reservation"]),
        },
        {
            "id": "JobID",
            "submit": "Submit",
            "run": "Elapsed",
            "gpus": "GPUs in TRES",
            "limit": "Timelimit in seconds",
            "nodes": "NNodes",
            "priority": "Priority",
        },
    )
    table.note(steps, "job step: left out", "job steps: left out")
    _leave_out(table)
    _note_waits(table)
    _note_places(table)
    table.note(
        table.count(pl.col("eligible") > pl.col("submitted")),
        "job was held or waited for others first: it counts as submitted once eligible",
        "jobs were held or waited for others first: they count as submitted once eligible",
    )
    words = "sacct's local time; export with SLURM_TIME_FORMAT=%s where clocks change"
    dates = cells.names("Submit").str.contains("-", literal=True).any()
    table.origin, table.always = calendar(words if dates else "UTC"), ("sort",)
    return table


def _note_waits(table: RawTable) -> None:
    """Say how many jobs wait for others in a replay, as they did."""
    table.note(
        table.count(pl.col("dependency").is_not_null()),
        "job depends on others (in the trace: it follows them in a replay)",
        "jobs depend on others (those in the trace: they follow them in a replay)",
    )
    table.note(
        table.count((pl.col("throttle") > 0) & pl.col("array").is_not_null()),
        "task belongs to an array of which only some run at once",
        "tasks belong to arrays of which only some run at once",
    )


def _note_places(table: RawTable) -> None:
    """Say how many jobs may run in several partitions, or not on all nodes of theirs."""
    table.note(
        table.count(pl.col("partition").str.contains(SEVERAL, literal=True)),
        "job asked for several partitions: it may run in any of them",
        "jobs asked for several partitions: they may run in any of theirs",
    )
    table.note(
        table.count(pl.col("nodelist").is_not_null() | pl.col("exclude").is_not_null()),
        "job asked for nodes by name, or not for some",
        "jobs asked for nodes by name, or not for some",
    )
    table.note(
        table.count(pl.col("reservation").is_not_null()),
        "job asked for a reservation",
        "jobs asked for reservations",
    )


def _resources(
    allocated: pl.Series, requested: pl.Series, exclusive: pl.Series
) -> dict[str, pl.Series]:
    """What a job got, as it may ask per node or per task; but only the GPU types it asked for.

    A job that takes any GPU must not be bound to the type that it happened to get, nor one that
    takes whole nodes to as many CPUs and GPUs as its nodes had.
    """
    got = tres_columns(pl.select(pl.coalesce(allocated, requested)).to_series())
    asked = tres_columns(requested)
    for column in ("gpus", "cpus", "memory"):
        own = pl.when(exclusive & requested.is_not_null()).then(asked[column])
        got[column] = pl.select(own.otherwise(got[column])).to_series()
    for column in ("gpu_type", "mig"):
        demand = pl.when(asked["gpus"] > 0).then(asked[column]).otherwise(got[column])
        got[column] = pl.select(demand).to_series()
    return got


def _either(recorded: pl.Series, submitted: pl.Series) -> pl.Series:
    """What Slurm has recorded; where it has not, what the command says."""
    return pl.select(pl.coalesce(recorded, submitted)).to_series()


def _drop_steps(cells: Cells) -> int:
    """Steps (`17.batch`, `17.0`) repeat what their job says."""
    ids = cells.names("JobID" if "JobID" in cells else "JobIDRaw")
    step = ids.str.contains(".", literal=True).fill_null(value=False)
    cells.frame = cells.frame.filter(~step)
    return int(step.sum())


def _elapsed(cells: Cells) -> pl.Series:
    if "ElapsedRaw" in cells:
        return cells.numbers("ElapsedRaw")
    return cells.times("Elapsed", clocks)


def _limit(cells: Cells) -> pl.Series:
    column = "TimelimitRaw" if "TimelimitRaw" in cells else "Timelimit"
    if column in cells:
        text = pl.col(column)
        cells.frame = cells.frame.with_columns(pl.when(~text.is_in(NO_LIMIT)).then(text))
    if column == "TimelimitRaw":
        return cells.numbers(column) * 60.0
    return cells.times(column, durations)


def _leave_out(table: RawTable) -> None:
    state, start = pl.col("state"), pl.col("recorded_start")
    # Old versions give a job cancelled in the queue a start, but nothing allocated.
    gone = state.str.starts_with("CANCELLED") & (pl.col("run") == 0) & pl.col("allocated").is_null()
    table.leave_out(
        start.is_null() | (start == 0) | gone, "job never started", "jobs never started"
    )
    going = state.is_in([*GOING, "STOPPED"])
    table.leave_out(going, "job was still running", "jobs were still running")
    follow_runs(table)


SACCT = Format("sacct", "Slurm accounting: sacct --parsable2", sniff, read, cpu_jobs=True)
