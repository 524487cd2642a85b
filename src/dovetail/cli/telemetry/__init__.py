"""`dovetail telemetry`: what GPUs say of themselves."""

from __future__ import annotations

import typer

from dovetail.cli.telemetry.status import telemetry_status

telemetry = typer.Typer(
    name="telemetry",
    help="Read what GPUs say of themselves.\n\n\b\n"
    "Example:\n"
    "  dovetail telemetry status prometheus:http://prometheus:9090",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@telemetry.callback()
def _group() -> None:
    """Typer would take a lone command for the group itself."""


telemetry.command("status")(telemetry_status)
