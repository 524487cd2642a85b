"""Cluster shapes from the files that sites and traces have; a new one is a file and a line here."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from dovetail.domain.errors import ClusterError, TraceError
from dovetail.domain.registry import Registry
from dovetail.traces.clusters.additions import add_file
from dovetail.traces.clusters.helios import HELIOS
from dovetail.traces.clusters.openb import OPENB
from dovetail.traces.clusters.pai2020 import PAI2020
from dovetail.traces.clusters.philly import PHILLY
from dovetail.traces.clusters.scontrol import SCONTROL, SCONTROL_JSON
from dovetail.traces.clusters.shape import ClusterFile, ClusterFormat
from dovetail.traces.clusters.slurm_conf import SLURM_CONF
from dovetail.traces.source import read_head

CLUSTER_FORMATS: Registry[ClusterFormat] = Registry(
    "cluster format",
    {
        part.name: part
        for part in (SCONTROL, SCONTROL_JSON, SLURM_CONF, PHILLY, HELIOS, PAI2020, OPENB)
    },
)


def read_cluster(
    path: str | Path, format: str | None = None, more: Iterable[str | Path] = ()
) -> ClusterFile:
    """A cluster and notes in words, from a file of any known format.

    `more`: files of the same site that add partitions, QOS, accounts and limits to its nodes.
    """
    path = Path(path)
    try:
        chosen = CLUSTER_FORMATS[format] if format is not None else _guess(path)
        shape = chosen.read(path)
        for other in more:
            add_file(shape, Path(other))
        return shape.build()
    except TraceError as problem:
        # Files are read as trace files are, but what went wrong is a cluster.
        raise ClusterError(str(problem)) from problem


def _guess(path: Path) -> ClusterFormat:
    if os.path.isdir(path):
        raise ClusterError(f"{path}: is a folder; name the file in it")
    head = read_head(path)
    for candidate in CLUSTER_FORMATS.values():
        if candidate.sniff(path, head):
            return candidate
    known = ", ".join(CLUSTER_FORMATS)
    raise ClusterError(f"{path.name}: cannot tell its format; name it, one of {known}")
