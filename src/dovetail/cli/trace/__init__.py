"""`dovetail trace`: commands for job histories."""

from __future__ import annotations

import typer

from dovetail.cli.trace.formats import trace_formats
from dovetail.cli.trace.importer import trace_import
from dovetail.cli.trace.inspect import trace_inspect
from dovetail.cli.trace.synth import trace_synth

trace = typer.Typer(
    name="trace",
    help="Import, inspect and draw job histories.\n\n\b\nExample:\n"
    "  dovetail trace import sacct.txt --out history.parquet",
    no_args_is_help=True,
    rich_markup_mode=None,
)

trace.command("import")(trace_import)
trace.command("inspect")(trace_inspect)
trace.command("synth")(trace_synth)
trace.command("formats")(trace_formats)
