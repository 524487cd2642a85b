"""`dovetail models`: which model is in service, and how another takes its place."""

from __future__ import annotations

import typer

from dovetail.cli.models.challenge import models_challenge
from dovetail.cli.models.drift import models_drift
from dovetail.cli.models.models import models_list
from dovetail.cli.models.promote import models_promote
from dovetail.cli.models.rollback import models_rollback

models = typer.Typer(
    name="models",
    help="Say which model is champion, let a challenger take its place, and go back.\n\n\b\n"
    "Example:\n"
    "  dovetail models list",
    no_args_is_help=True,
    rich_markup_mode=None,
)

models.command("list")(models_list)
models.command("challenge")(models_challenge)
models.command("promote")(models_promote)
models.command("rollback")(models_rollback)
models.command("drift")(models_drift)
