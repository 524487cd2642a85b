"""What a user can cause becomes one line on stderr and exit code 2; Ctrl-C becomes 130."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from dovetail.cli import INTERRUPTED
from dovetail.cli.plain import one_line
from dovetail.domain.errors import DovetailError

WRONG_INPUT = 2
"""The exit code that the command line's own usage errors have, too."""


class FailsInWords(TyperGroup):
    """The root of the tree of commands: errors of all of them end here."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except DovetailError as problem:
            typer.echo(f"error: {one_line(str(problem))}", err=True)
            raise typer.Exit(WRONG_INPUT) from None
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None
