"""A trace from whatever stands for one: a file of any known format, or a workload to draw from.

>>> len(load_trace("synth:helios", jobs=50, seed=1, load=0.9, cluster_gpus=64))
50
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail.domain.arguments import expect, number, whole, wrong_type
from dovetail.domain.errors import ConfigError
from dovetail.domain.trace import Trace
from dovetail.traces.synthetic import WORKLOADS, synthesize

if TYPE_CHECKING:
    from dovetail.traces.table import Progress

SYNTHETIC = "synth:"
"""What the name of a workload starts with, where a file could stand."""

JOBS = 10_000
"""Drawn from a workload where nobody says how many."""


def load_trace(
    source: str | Path | Trace,
    *,
    format: str | None = None,
    repair: Iterable[str] = (),
    columns: Mapping[str, str] | None = None,
    jobs: int | None = None,
    seed: int = 0,
    load: float | None = None,
    cluster_gpus: int | None = None,
    progress: Progress | None = None,
) -> Trace:
    """A trace file of any known format, or jobs drawn from a workload, such as `synth:helios`.

    `format`, `repair` and `columns` (of a CSV, by field) are for files; `jobs` (10,000 if not
    given), `seed`, `load` and `cluster_gpus` for workloads. For a file, `jobs`
    keeps the first so many.
    """
    expect("trace", source, str, Path, Trace, words="a file, synth:NAME, or a Trace")
    if isinstance(source, Trace):
        return source
    if format is not None:
        expect("format", format, str, words="the name of a trace format")
    if columns is not None:
        expect("columns", columns, Mapping, words='such as {"submit": "Submitted"}')
        for name in (*columns.keys(), *columns.values()):
            expect("columns", name, str, words="fields and columns by name")
    names = _names("repair", repair)
    jobs = None if jobs is None else whole("jobs", jobs, low=1)
    seed = whole("seed", seed, low=0)
    load = None if load is None else number("load", load)
    if cluster_gpus is not None:
        cluster_gpus = whole("cluster_gpus", cluster_gpus, low=1)
    if is_synthetic(source):
        if format is not None or names or columns:
            raise ConfigError(
                f"{source}: format, repair and columns are for trace files, not for workloads"
            )
        workload = WORKLOADS[str(source).removeprefix(SYNTHETIC)]
        return synthesize(workload, JOBS if jobs is None else jobs, seed, load, cluster_gpus)
    if load is not None or cluster_gpus is not None:
        raise ConfigError(f"{source}: load and cluster_gpus are for workloads such as synth:helios")
    from dovetail.traces.reader import read_trace  # with Polars, which workloads do not need

    trace = read_trace(source, format, names, progress, columns)
    return trace if jobs is None or jobs >= len(trace) else trace.slice(0, jobs)


def is_synthetic(source: object) -> bool:
    """Whether it names a workload, not a file."""
    return isinstance(source, str) and source.startswith(SYNTHETIC)


def _names(argument: str, given: object) -> tuple[str, ...]:
    """A list of names; a single one in quotes would be taken letter by letter."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise wrong_type(argument, given, 'a list of names such as ["drop"]')
    names = tuple(given)
    for name in names:
        expect(argument, name, str, words="a list of names")
    return names
