"""A trace as Dovetail's own Parquet: smaller and faster to read than any source it came from."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import polars as pl

from dovetail.domain.jobs import Jobs, Names
from dovetail.domain.output import replacing
from dovetail.domain.trace import Trace
from dovetail.traces.formats.parquet import COLUMNS, MARK
from dovetail.traces.parquet_trial import remember_file


def write_trace(trace: Trace, path: str | Path) -> None:
    """Write all columns, the name and the notes; reading them back gives the same digest.

    The file appears whole or not at all.
    """
    said = {"name": trace.name, "notes": list(trace.notes), "origin": trace.origin}
    facts = json.dumps(said, ensure_ascii=False)
    write_frame(_frame(trace.jobs), Path(path), {MARK: facts})


def write_frame(frame: pl.DataFrame, path: Path, facts: dict[str, str] | None = None) -> None:
    """Any table as Parquet, whole or not at all."""
    with replacing(path) as part:
        try:
            frame.write_parquet(part, metadata=facts)
        except pl.exceptions.PolarsError as problem:
            # Polars has the system's own words at the end of its own: "... IO error: No space".
            raise OSError(str(problem).rpartition("error: ")[2]) from problem
        remember_file(part)


def _frame(jobs: Jobs) -> pl.DataFrame:
    columns = {}
    for item in fields(jobs):
        column = getattr(jobs, item.name)
        if item.name == "ids":
            columns[COLUMNS["id"]] = pl.Series(column.tolist(), dtype=pl.String)
        elif isinstance(column, Names):
            if not column.values:  # nothing known: reading it back gives the same
                continue
            # An Enum keeps the codes: names in the same order, also those that no row has.
            columns[COLUMNS[item.name]] = _enum(column)
        elif column.dtype.kind == "f":
            columns[COLUMNS[item.name]] = pl.Series(column).fill_nan(None)
        else:
            columns[COLUMNS[item.name]] = pl.Series(column)
    return pl.DataFrame(columns)


def _enum(names: Names) -> pl.Series:
    rows = pl.Series(names.codes)
    known = pl.Series(names.values, dtype=pl.Enum(names.values))
    return known.gather(pl.select(pl.when(rows >= 0).then(rows)).to_series())
