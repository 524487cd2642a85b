"""Times as trace files write them, to seconds since 1970."""

from __future__ import annotations

import polars as pl

_TAIL = r"^(\.\d+)?\s*(Z|UTC|[+-]\d\d:?\d\d)?$"


def epoch_seconds(text: pl.Series) -> pl.Series:
    """`2020-06-09 18:41:01`, `2020-06-09T18:41:01.5+08:00` or epoch seconds; null if neither.

    A time without a zone is read as UTC: only differences count in a trace.
    """
    seconds = text.cast(pl.Float64, strict=False)
    if seconds.null_count() == text.null_count():
        return seconds
    tail = text.str.slice(19)
    dates = pl.select(pl.when(tail.str.contains(_TAIL)).then(_naive(text))).to_series()
    dates = dates.dt.epoch("ms") / 1000.0
    if tail.str.len_bytes().sum():
        dates = dates + _fraction(tail) - _offset(tail)
    return pl.select(pl.coalesce(seconds, dates)).to_series()


def local_epoch_seconds(text: pl.Series, zone: str) -> pl.Series:
    """Wall-clock times of a zone; the hour that occurs twice in autumn is taken as its first."""
    aware = _naive(text).dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    return aware.dt.epoch("ms") / 1000.0


def ambiguous_times(text: pl.Series, zone: str) -> int:
    """How many wall-clock times fall into the hour that occurs twice."""
    naive = _naive(text)
    first = naive.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    second = naive.dt.replace_time_zone(zone, ambiguous="latest", non_existent="null")
    return int((first != second).sum())


def clock_seconds(text: pl.Series) -> pl.Series:
    """Slurm's `[days-]hours:minutes:seconds` (or `minutes:seconds`) in seconds."""
    parts = text.str.extract_groups(
        r"^(?:(?<days>\d+)-)?(?:(?<hours>\d+):)?(?<minutes>\d+):(?<seconds>\d+)(?:\.\d+)?$"
    ).struct.unnest()
    names = (("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))
    sums = [pl.col(name).cast(pl.Float64).fill_null(0.0) * factor for name, factor in names]
    return parts.select(
        pl.when(pl.col("seconds").is_not_null()).then(pl.sum_horizontal(sums))
    ).to_series()


def _naive(text: pl.Series) -> pl.Series:
    plain = text.str.slice(0, 19).str.replace("T", " ", literal=True)
    return plain.str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="ms", strict=False)


def _fraction(tail: pl.Series) -> pl.Series:
    return tail.str.extract(r"^(\.\d+)").cast(pl.Float64).fill_null(0.0)


def _offset(tail: pl.Series) -> pl.Series:
    sign = tail.str.extract(r"([+-])\d\d:?\d\d$").replace_strict(
        {"+": 1.0, "-": -1.0}, default=0.0, return_dtype=pl.Float64
    )
    hours = tail.str.extract(r"[+-](\d\d):?\d\d$").cast(pl.Float64).fill_null(0.0)
    minutes = tail.str.extract(r"[+-]\d\d:?(\d\d)$").cast(pl.Float64).fill_null(0.0)
    return sign.fill_null(0.0) * (hours * 3600.0 + minutes * 60.0)
