"""`dovetail cluster`: commands for cluster descriptions."""

from __future__ import annotations

import typer

from dovetail.cli.cluster.importer import cluster_import
from dovetail.cli.cluster.show import cluster_show

cluster = typer.Typer(
    name="cluster",
    help="Import and show cluster descriptions.\n\n\b\nExample:\n"
    "  dovetail cluster show 64x8:v100,20x4:p100",
    no_args_is_help=True,
    rich_markup_mode=None,
)

cluster.command("import")(cluster_import)
cluster.command("show")(cluster_show)
