"""Every command with its help, as the command line itself prints it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer.main

from dovetail.cli.app import app

WIDTH = 88
"""Characters of a line: what fits the column of text."""


def commands() -> str:
    return "\n\n".join(_pages(typer.main.get_command(app), None, "dovetail"))


def _pages(command: Any, parent: Any, name: str) -> Iterator[str]:
    context = command.context_class(command, info_name=name, parent=parent, terminal_width=WIDTH)
    yield f"## `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```"
    for below in getattr(command, "commands", {}):
        yield from _pages(command.commands[below], context, below)
