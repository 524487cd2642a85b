"""Columns of a trace from the commands that submitted its jobs."""

from __future__ import annotations

import polars as pl

from dovetail.domain.partition_lists import SEVERAL
from dovetail.slurm.submit_line import submission_of
from dovetail.slurm.tres import amounts_of
from dovetail.traces.times import epoch_seconds, read_unique

_COLUMNS = {
    "dependency": pl.String,
    "throttle": pl.Float64,
    "delay": pl.Float64,
    "begin": pl.String,
    "licenses": pl.String,
    "partitions": pl.String,
    "nodelist": pl.String,
    "exclude": pl.String,
    "constraint": pl.String,
    "reservation": pl.String,
}


def submission_columns(
    lines: pl.Series, submitted: pl.Series, requested: pl.Series, partition: pl.Series
) -> dict[str, pl.Series]:
    """What each job waits for, how many of its array run at once, when it could begin and where.

    A date of day is read as the trace's other times are: where these are epoch seconds and the
    cluster's clock is not UTC, it is some hours off; few jobs have both a date and a dependency.
    """
    found = read_unique(lines.fill_null(""), _row, pl.Struct(_COLUMNS)).struct.unnest()
    begin = epoch_seconds(found["begin"])
    soonest = pl.max_horizontal(submitted + found["delay"], begin)
    earliest = pl.when(found["dependency"].is_not_null() | (found["throttle"] > 0)).then(soonest)
    return {
        "dependency": found["dependency"],
        "throttle": found["throttle"],
        "earliest": pl.select(earliest).to_series(),
        "licenses": pl.select(pl.coalesce(_licenses(requested), found["licenses"])).to_series(),
        "partition": _partitions(found["partitions"], partition),
        "nodelist": found["nodelist"],
        "exclude": found["exclude"],
        "constraint": found["constraint"],
        "reservation": found["reservation"],
    }


def _partitions(asked: pl.Series, recorded: pl.Series) -> pl.Series:
    """All that a job asked for, if it ran in one of them; else it was moved, or asked for one."""
    both = pl.DataFrame({"asked": asked, "recorded": recorded})
    among = pl.col("asked").str.split(SEVERAL).list.contains(pl.col("recorded"))
    several = pl.col("asked").str.contains(SEVERAL, literal=True) & among
    chosen = pl.when(several).then("asked").otherwise("recorded")
    return both.select(chosen.str.strip_chars(SEVERAL)).to_series()


def _licenses(tres: pl.Series) -> pl.Series:
    """Where Slurm counts them (AccountingStorageTRES), as they were granted."""
    return read_unique(tres.fill_null(""), _licenses_in, pl.String)


def _licenses_in(tres: str) -> str | None:
    held = {
        name.removeprefix("license/"): count
        for name, count in amounts_of(tres).items()
        if name.startswith("license/")
    }
    return ",".join(f"{name}:{count}" for name, count in held.items()) or None


def _row(line: str) -> dict[str, str | float | None]:
    return submission_of(line)._asdict()
