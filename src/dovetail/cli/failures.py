"""What a user can cause becomes one line on stderr and exit code 2; Ctrl-C becomes 130."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from dovetail.cli import FAILED, INTERRUPTED
from dovetail.cli.plain import one_line
from dovetail.domain.entry_points import fault_of_package
from dovetail.domain.errors import DovetailError

WRONG_INPUT = 2
"""The exit code that the command line's own usage errors have, too."""


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """One line, without the place in our source that Python would name."""
    typer.echo(f"warning: {one_line(str(message))}", err=True)


def _hidden_program(problem: Exception) -> str | None:
    """What root asks for is done by the daemon's account, which may not be able to read us."""
    if not isinstance(problem, ImportError) or os.access(os.__file__, os.R_OK):
        return None
    return (
        f"account {os.geteuid()}, to which the daemon's folders belong, may not read {sys.prefix}; "
        "install Python and Dovetail where it may, such as /opt/dovetail"
    )


class FailsInWords(TyperGroup):
    """The root of the tree of commands: errors of all of them end here."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except DovetailError as problem:
            typer.echo(f"error: {one_line(str(problem))}", err=True)
            raise typer.Exit(WRONG_INPUT) from None
        except typer.Exit:
            raise
        except Exception as problem:
            fault = _hidden_program(problem) or fault_of_package(problem)
            if fault is None:
                raise
            typer.echo(
                f"error: {one_line(f'{fault}: {type(problem).__name__}: {problem}')}", err=True
            )
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None
