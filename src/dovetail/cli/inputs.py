"""The trace that a command was asked for: read with a progress bar, or drawn for the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dovetail.agents.history import Site
    from dovetail.domain.cluster import Cluster
    from dovetail.domain.trace import Trace

SYNTHETIC_LOAD = 0.9
"""Offered load of a drawn workload: enough that jobs queue, and that queues end."""


def open_trace(
    source: str, cluster: Cluster, jobs: int | None, load: float | None, seed: int
) -> Trace:
    """A file's jobs, or a workload's jobs in a number and size that suit the cluster."""
    from dovetail import api
    from dovetail.cli.screen import print_notes

    if not source.startswith(api.SYNTHETIC):
        if load is not None:
            raise ConfigError("--load is for workloads such as synth:helios; files have their own")
        return _read(source, jobs)
    wanted = SYNTHETIC_LOAD if load is None else load
    trace = api.load_trace(
        source, jobs=jobs, seed=seed, load=wanted, cluster_gpus=cluster.total_gpus
    )
    print_notes(trace.notes)
    return trace


def open_sites(
    sources: Sequence[str],
    clusters: Sequence[str],
    jobs: int | None,
    load: float | None,
    seed: int,
) -> list[Site]:
    """Histories with the clusters they belong to: one for all of them, or one for each."""
    from dovetail import api
    from dovetail.agents.history import Site

    if len(clusters) not in (1, len(sources)):
        raise ConfigError(
            f"{len(clusters)} clusters for {len(sources)} traces; give one --cluster, or one for "
            "each --trace, in the same order"
        )
    sites = []
    for number, source in enumerate(sources):
        cluster = api.load_cluster(clusters[number % len(clusters)])
        sites.append(Site(open_trace(source, cluster, jobs, load, seed), cluster))
    return sites


def _read(path: str, jobs: int | None) -> Trace:
    from dovetail.cli.screen import progress_bar
    from dovetail.traces.read import read_trace

    with progress_bar(f"reading {path}") as report:
        trace = read_trace(path, progress=report)
    return trace if jobs is None or jobs >= len(trace) else trace.slice(0, jobs)
