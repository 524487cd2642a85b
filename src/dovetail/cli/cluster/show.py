"""`dovetail cluster show`: what a cluster description means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli.plain import cell

if TYPE_CHECKING:
    from rich.table import Table

    from dovetail.domain.cluster import Cluster


def cluster_show(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC", help="As 64x8:v100,20x4:p100, or a .toml file.", show_default=False
        ),
    ],
) -> None:
    """Show a cluster's kinds of nodes and its partitions.

    \b
    Example:
      dovetail cluster show 64x8:v100,20x4:p100
    """
    from dovetail.api import load_cluster
    from dovetail.cli.screen import results

    cluster = load_cluster(spec)
    console = results()
    console.print(
        f"{cell(cluster.name)}: {len(cluster.nodes):,} nodes, {cluster.total_gpus:,} GPUs "
        f"(digest {cluster.digest()})\n"
    )
    console.print(_kinds(cluster))
    if cluster.partitions:
        console.print()
        console.print(_partitions(cluster))
    if cluster.outages or cluster.reservations:
        console.print(
            f"\n{len(cluster.outages):,} outages and {len(cluster.reservations):,} reservations "
            "of nodes"
        )


def _kinds(cluster: Cluster) -> Table:
    from dovetail.cli.screen import columns

    headers = ("nodes", "GPUs each", "GPU type", "speed", "CPUs", "memory GB", "switches")
    table = columns(*headers, right=[header for header in headers if header != "GPU type"])
    kinds: dict[tuple[int, str, float, float], list[str]] = {}  # to the switches of its nodes
    for node in cluster.nodes:
        kind = (node.gpus, node.gpu_type, node.cpus, node.memory_gb)
        kinds.setdefault(kind, []).append(node.switch)
    for (gpus, gpu_type, cpus, memory), switches in kinds.items():
        table.add_row(
            f"{len(switches):,}",
            f"{gpus}",
            cell(gpu_type) if gpus else "-",
            f"{cluster.speed_of(gpu_type):g}",
            _limit(cpus),
            _limit(memory),
            f"{len(set(switches)):,}",
        )
    return table


def _limit(amount: float) -> str:
    return "any" if math.isinf(amount) else f"{amount:,.0f}"


def _partitions(cluster: Cluster) -> Table:
    from dovetail.cli.screen import columns

    table = columns("partition", "nodes", "GPUs", "priority", right=("nodes", "GPUs", "priority"))
    for part in cluster.partitions:
        gpus = sum(cluster.nodes[index].gpus for index in part.nodes)
        table.add_row(cell(part.name), f"{len(part.nodes):,}", f"{gpus:,}", f"{part.priority:g}")
    return table
