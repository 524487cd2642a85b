"""The tree of commands; nothing heavy is imported before one of them runs."""

from __future__ import annotations

from typing import Annotated

import typer

from dovetail import __version__
from dovetail.cli.cluster_import import cluster_import
from dovetail.cli.cluster_show import cluster_show
from dovetail.cli.compare import compare
from dovetail.cli.evaluate import evaluate
from dovetail.cli.failures import FailsInWords
from dovetail.cli.live import live
from dovetail.cli.mig import mig
from dovetail.cli.policies import policies
from dovetail.cli.simulate import simulate
from dovetail.cli.telemetry import telemetry
from dovetail.cli.trace_formats import trace_formats
from dovetail.cli.trace_import import trace_import
from dovetail.cli.trace_inspect import trace_inspect
from dovetail.cli.trace_synth import trace_synth
from dovetail.cli.train import train
from dovetail.cli.transfer import transfer

# Plain help: Rich's takes 60 ms more to import, and its boxes do not survive a pager or a log.
PLAIN = None


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dovetail {__version__}")
        raise typer.Exit


def dovetail(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Replay a GPU cluster's job history under other scheduling policies, and compare them.

    \b
    Example:
      dovetail compare synth:helios --cluster 16x8:v100 --report report.html
    """


def _group(name: str, about: str) -> typer.Typer:
    return typer.Typer(name=name, help=about, no_args_is_help=True, rich_markup_mode=PLAIN)


app = typer.Typer(
    cls=FailsInWords,
    callback=dovetail,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a bug shows Python's own traceback, without local values
    rich_markup_mode=PLAIN,
)

trace = _group(
    "trace",
    "Import, inspect and draw job histories.\n\n\b\nExample:\n"
    "  dovetail trace import sacct.txt --out history.parquet",
)
trace.command("import")(trace_import)
trace.command("inspect")(trace_inspect)
trace.command("synth")(trace_synth)
trace.command("formats")(trace_formats)

cluster = _group(
    "cluster",
    "Import and show cluster descriptions.\n\n\b\nExample:\n"
    "  dovetail cluster show 64x8:v100,20x4:p100",
)
cluster.command("import")(cluster_import)
cluster.command("show")(cluster_show)

app.add_typer(trace)
app.add_typer(cluster)
app.add_typer(live)
app.add_typer(mig)
app.add_typer(telemetry)
app.command("simulate")(simulate)
app.command("compare")(compare)
app.command("train")(train)
app.command("evaluate")(evaluate)
app.command("transfer")(transfer)
app.command("policies")(policies)
