"""Columns of a trace from Slurm's trackable resources."""

from __future__ import annotations

import polars as pl

from dovetail.slurm.gres import mig_profile, without_mig
from dovetail.slurm.tres import resources_of
from dovetail.traces.times import read_unique

_COLUMNS = {
    "gpus": pl.Float64,
    "gpu_type": pl.String,
    "mig": pl.String,
    "cpus": pl.Float64,
    "memory": pl.Float64,
}


def tres_columns(tres: pl.Series) -> dict[str, pl.Series]:
    """GPUs (0 where none), their types, MIG profile, CPUs and memory in GB of each job."""
    return read_unique(tres.fill_null(""), _row, pl.Struct(_COLUMNS)).struct.unnest().to_dict()


def _row(tres: str) -> dict[str, float | str | None]:
    found = resources_of(tres)
    names = [name.lower() for name in found.gpu_types]
    types = dict.fromkeys(without_mig(name) for name in names)
    return {
        "gpus": float(found.gpus),
        "gpu_type": "|".join(filter(None, types)) or None,
        "mig": mig_profile(names[0]) if names else None,
        "cpus": found.cpus or None,
        "memory": found.memory_gb or None,
    }
