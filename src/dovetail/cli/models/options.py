"""Options that the commands for models share."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dovetail.models import ModelStore

DEFAULT_STORE = Path("/var/lib/dovetail/models")

StoreOption = Annotated[Path, typer.Option("--store", metavar="DIR", help="The folder of models.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What the model is for.")]
TraceOption = Annotated[
    str, typer.Option("--trace", metavar="TRACE", help="Recent history: a trace file.")
]
ClusterOption = Annotated[
    str, typer.Option("--cluster", metavar="CLUSTER", help="The cluster that it is replayed on.")
]


def open_store(folder: Path) -> ModelStore:
    """The store; what it does is announced on stderr."""
    from dovetail.cli.plain import one_line
    from dovetail.models import ModelStore

    return ModelStore(folder, announce=lambda said: typer.echo(one_line(said), err=True))


def who() -> str:
    """The account, for the log."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
