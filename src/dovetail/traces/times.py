"""Times as trace files write them, to seconds since 1970."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl

from dovetail.slurm.durations import seconds_of

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


def durations(text: pl.Series) -> pl.Series:
    """Slurm's durations in seconds; null where there is none."""
    return read_unique(text, _seconds, pl.Float64)


def clocks(text: pl.Series) -> pl.Series:
    """Durations with a colon: what a bare number counts is for the column to say."""
    colon = text.str.contains(":", literal=True)
    return durations(pl.select(pl.when(colon).then(text)).to_series())


def read_unique(
    text: pl.Series, read: Callable[[str], Any], dtype: type[pl.DataType] | pl.DataType
) -> pl.Series:
    """Each text by a plain function, each once: a million jobs have few different ones."""
    unique = text.drop_nulls().unique()
    values = pl.Series([read(one) for one in unique], dtype=dtype)
    return text.replace_strict(unique, values, default=None, return_dtype=dtype)


def _seconds(text: str) -> float | None:
    seconds = seconds_of(text)
    return None if math.isnan(seconds) else seconds


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
