"""What the documents tell a user to type exists: commands, options, the Python example."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Command

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (
    "README.md",
    "docs/tutorial/first-hour.md",
    "docs/tutorial/first-experiment.md",
    "docs/how-to/replay-your-cluster.md",
    "docs/how-to/run-beside-slurm.md",
    "docs/how-to/mig.md",
    "Makefile",
)
_COMMAND = re.compile(r"(?m)^[ \t]*(?:\S*/)?dovetail ((?:.*\\\n)*.*)$")


def commands_in(document: str) -> list[str]:
    """Every `dovetail …` at the start of a line, with its continuation lines."""
    text = (ROOT / document).read_text(encoding="utf-8").replace("$(BIN)", "bin")
    return [found.replace("\\\n", " ") for found in _COMMAND.findall(text)]


def command_of(line: str) -> str:
    """The words of a line that name the command."""
    words = line.split()
    grouped = words[0] in ("trace", "cluster", "live", "mig")
    return " ".join(words[: 2 if grouped and not words[1].startswith("-") else 1])


LINES = [(document, line) for document in DOCUMENTS for line in commands_in(document)]


@pytest.mark.parametrize("command", sorted({command_of(line) for _, line in LINES}))
def test_commands_and_options_exist(dovetail: Command, command: str) -> None:
    said = dovetail(*command.split(), "--help")
    for document, line in LINES:
        if command_of(line) == command:
            assert said.code == 0, f"{document}: no command {command}"
            for option in (word for word in line.split() if word.startswith("--")):
                assert f"{option} " in said.out, f"{document}: {command} has no {option}"


def test_the_documents_do_show_commands() -> None:
    assert all(commands_in(document) for document in DOCUMENTS)


def test_the_python_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(
    "document",
    [str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))],
)
def test_links_of_a_document_lead_somewhere(document: str) -> None:
    path = ROOT / document
    for target in re.findall(
        r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")
    ):
        assert (path.parent / target).exists(), f"{document} links to {target}"
