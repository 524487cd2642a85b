"""What every result says of its origin: the version of Dovetail, and hashes of what went in."""

from __future__ import annotations

from importlib import import_module

from dovetail.domain.cluster import Cluster
from dovetail.domain.trace import Trace


def version() -> str:
    """Of Dovetail; looked up late, since the package itself names `api`, a layer above this one."""
    return str(import_module("dovetail").__version__)


def inputs_of(trace: Trace, cluster: Cluster) -> dict[str, str]:
    """The trace and the cluster of a result or a training, by name and by hash.

    >>> from dovetail.domain.jobs import JobColumns
    >>> jobs = JobColumns(submit=[0], run=[60], gpus=[8]).build()
    >>> sorted(inputs_of(Trace(jobs), Cluster.parse("1x8")))
    ['cluster', 'cluster_digest', 'trace', 'trace_digest']
    """
    return {
        "trace": trace.name,
        "trace_digest": trace.digest(),
        "cluster": cluster.name,
        "cluster_digest": cluster.digest(),
    }
