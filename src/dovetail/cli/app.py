"""The tree of commands; nothing heavy is imported before one of them runs."""

from __future__ import annotations

from typing import Annotated

import typer

from dovetail import __version__
from dovetail.cli.cluster import cluster
from dovetail.cli.compare import compare
from dovetail.cli.evaluate import evaluate
from dovetail.cli.failures import FailsInWords
from dovetail.cli.live import live
from dovetail.cli.mig import mig
from dovetail.cli.models import models
from dovetail.cli.policies import policies
from dovetail.cli.predict import predict
from dovetail.cli.simulate import simulate
from dovetail.cli.telemetry import telemetry
from dovetail.cli.trace import trace
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


app = typer.Typer(
    cls=FailsInWords,
    callback=dovetail,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a bug shows Python's own traceback, without local values
    rich_markup_mode=PLAIN,
)

app.add_typer(trace)
app.add_typer(cluster)
app.add_typer(live)
app.add_typer(mig)
app.add_typer(telemetry)
app.add_typer(models)
app.command("simulate")(simulate)
app.command("compare")(compare)
app.command("predict")(predict)
app.command("train")(train)
app.command("evaluate")(evaluate)
app.command("transfer")(transfer)
app.command("policies")(policies)
