"""Every command explains itself, quickly and with an example."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from dovetail import __version__
from dovetail.cli.app import app
from tests.cli.conftest import Command


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command and group, the root first."""
    yield path
    for name, part in getattr(command, "commands", {}).items():
        yield from commands(part, (*path, name))


COMMANDS = list(commands(get_command(app)))


@pytest.mark.parametrize("words", COMMANDS, ids=lambda w: " ".join(w) or "root")
def test_help_has_an_example_that_starts_with_the_command(
    dovetail: Command, words: tuple[str, ...]
) -> None:
    said = dovetail(*words, "--help")
    assert said.code == 0
    _, example = said.out.split("Example:\n")
    assert f"dovetail {' '.join(words)}".strip() in example


def test_help_and_version_load_nothing_heavy() -> None:
    heavy = "numpy", "numba", "polars", "matplotlib", "rich"
    code = (
        "import sys; from dovetail.cli.app import app\n"
        "try: app(['--help'])\n"
        f"except SystemExit: print('loaded:', [m for m in {heavy} if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.endswith("loaded: []\n")


def test_version(process: Command) -> None:
    said = process("--version")
    assert (said.code, said.out, said.err) == (0, f"dovetail {__version__}\n", "")


def test_a_misspelt_command_is_refused_in_words(process: Command) -> None:
    said = process("simulat")
    assert said.code == 2
    assert "No such command 'simulat'" in said.err
    assert "Traceback" not in said.err
