"""A cluster from whatever stands for one: a specification, a TOML file, or a file of a site."""

from __future__ import annotations

import os
from pathlib import Path

from dovetail.domain.arguments import expect
from dovetail.domain.cluster import Cluster
from dovetail.domain.cluster_toml import load_cluster as parse_cluster


def load_cluster(spec: str | Path | Cluster) -> Cluster:
    """From `64x8:v100,20x4:p100`, a TOML file, or a file that a site has (`slurm.conf`, ...)."""
    expect("cluster", spec, str, Path, Cluster, words="such as 64x8:v100, a file, or a Cluster")
    if isinstance(spec, Cluster):
        return spec
    path = Path(spec)
    if path.suffix != ".toml" and os.path.isfile(path):  # false for what is too long for a name
        # Polars reads it, and takes a quarter of a second to be there; most clusters are no file.
        from dovetail.traces.clusters import read_cluster

        return read_cluster(path).cluster
    return parse_cluster(spec)
