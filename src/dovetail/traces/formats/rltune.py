"""The 19-column CSV that RLTune trains on: SWF with GPUs, then virtual cluster and GPU type."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from dovetail.traces.cells import read_csv
from dovetail.traces.formats.swf import FIELDS, canonical
from dovetail.traces.source import first_line, read_head
from dovetail.traces.table import Format, Progress, RawTable

_FIELDS = (*FIELDS[:17], "vc_id", "gpu_type")
_TYPES = {"0": "t4", "1": "misc", "2": "p100", "3": "v100-16", "4": "v100-32"}


def sniff(path: Path, head: bytes) -> bool:
    lines = head.decode(errors="replace").splitlines()[:2]
    rows = [line.split(",") for line in lines]
    return bool(rows) and all(len(row) == len(_FIELDS) for row in rows) and _numeric(rows[-1])


def read(path: Path, progress: Progress) -> RawTable:
    cells = read_csv(path, names=_FIELDS)
    if not _numeric(first_line(read_head(path)).split(",")):
        cells.frame = cells.frame.slice(1)
    progress(0.3, "reading fields")
    code = cells.names("gpu_type").str.strip_suffix(".0")
    known = code.replace_strict(_TYPES, default=None, return_dtype=pl.String)
    partition = cells.names("vc_id").str.strip_suffix(".0")
    table = canonical(
        cells,
        gpu_type=known,
        partition=pl.select(pl.when(partition != "-1").then(partition)).to_series(),
    )
    table.note(
        int((known.is_null() & (code != "-1")).sum()),
        "job has an unknown GPU type code: any type will do",
        "jobs have an unknown GPU type code: any type will do",
    )
    return table


def _numeric(fields: list[str]) -> bool:
    return all(field.strip().lstrip("-").replace(".", "", 1).isdigit() for field in fields)


RLTUNE = Format("rltune", "RLTune's 19-column CSV", sniff, read)
