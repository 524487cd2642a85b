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


@pytest.mark.parametrize(
    ("document", "line"),
    [(document, line) for document in DOCUMENTS for line in commands_in(document)],
)
def test_commands_and_options_exist(dovetail: Command, document: str, line: str) -> None:
    words = line.split()
    grouped = words[0] in ("trace", "cluster", "live", "mig")
    depth = 2 if grouped and not words[1].startswith("-") else 1
    said = dovetail(*words[:depth], "--help")
    assert said.code == 0, f"{document}: no command {' '.join(words[:depth])}"
    for option in (word for word in words if word.startswith("--")):
        assert f"{option} " in said.out, f"{document}: {' '.join(words[:depth])} has no {option}"


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
