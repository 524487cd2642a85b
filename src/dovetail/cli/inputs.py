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
    from dovetail.cli.screen import print_notes, progress_bar
    from dovetail.traces.loader import is_synthetic, load_trace

    if is_synthetic(source):
        wanted = SYNTHETIC_LOAD if load is None else load
        trace = load_trace(
            source, jobs=jobs, seed=seed, load=wanted, cluster_gpus=cluster.total_gpus
        )
        print_notes(trace.notes)
        return trace
    with progress_bar(f"reading {source}") as report:
        return load_trace(source, jobs=jobs, load=load, progress=report)


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
