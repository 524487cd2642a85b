"""`dovetail cluster import`: a site's own description of its nodes to TOML."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.files import refuse_bad_targets, write_whole


def cluster_import(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The TOML to write.", show_default=False)
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="The file's format; guessed from its content if not given.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Read nodes, GPUs and partitions from scontrol, slurm.conf or a published node list.

    Further files add to the first: scontrol show partition and reservation, sacctmgr show qos,
    assoc and event.

    \b
    Example:
      sacctmgr -P show qos > qos.txt; sacctmgr -P show assoc > assoc.txt
      dovetail cluster import /etc/slurm/slurm.conf qos.txt assoc.txt --out cluster.toml
    """
    refuse_bad_targets(out=out)
    from dovetail.cli.screen import print_notes
    from dovetail.traces.clusters import read_cluster
    from dovetail.traces.clusters.toml import cluster_to_toml

    found = read_cluster(files[0], format, files[1:])
    text = cluster_to_toml(found.cluster)
    write_whole(out, lambda part: part.write_text(text, encoding="utf-8"))
    print_notes(found.notes)
    nodes = len(found.cluster.nodes)
    limits = f" and {len(found.cluster.limits):,} limits" if found.cluster.limits else ""
    closed = len(found.cluster.outages) + len(found.cluster.reservations)
    away = f"; {closed:,} outages and reservations" if closed else ""
    typer.echo(f"{nodes:,} nodes with {found.cluster.total_gpus:,} GPUs{limits}{away} in {out}")
