"""Every trace format that can be read; a new one is a file here and a line in the registry."""

from __future__ import annotations

from dovetail.domain.registry import Registry, instances_of
from dovetail.traces.formats.csv import CSV
from dovetail.traces.formats.helios import ACME, HELIOS
from dovetail.traces.formats.openb import OPENB
from dovetail.traces.formats.pai2020 import PAI2020
from dovetail.traces.formats.parquet import PARQUET
from dovetail.traces.formats.philly import PHILLY
from dovetail.traces.formats.rltune import RLTUNE
from dovetail.traces.formats.sacct import SACCT
from dovetail.traces.formats.sacct_json import SACCT_JSON
from dovetail.traces.formats.swf import SWF
from dovetail.traces.table import Format

FORMATS: Registry[Format] = Registry(
    "trace format",
    {
        part.name: part
        for part in (
            PARQUET,
            SACCT,
            SACCT_JSON,
            SWF,
            PHILLY,
            HELIOS,
            ACME,
            PAI2020,
            OPENB,
            RLTUNE,
            CSV,
        )
    },
    group="dovetail.trace_formats",
    admit=instances_of(Format),
)
