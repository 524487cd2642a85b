"""The walks of jobs on the architecture page lead through files that are there."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "dovetail"
NAMED_BY_THE_SITE = ("live/backends/slurm/backend.py", "live/backends/slurm/text_reader.py")
"""The configuration says how Slurm is read; no file of the walk imports these."""


class Most(NamedTuple):
    """What a walk may take."""

    files: int
    conversions: int


WALKS = {
    "The walk of a traced job": Most(files=20, conversions=5),
    "The walk of a waiting job": Most(files=25, conversions=5),
}


class Step(NamedTuple):
    """One row of the table."""

    file: str
    name: str
    form: str


def walk(title: str) -> list[Step]:
    text = (ROOT / "docs" / "architecture.md").read_text()
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    row = re.compile(r"^\| \d+ \| `(\S+)` \| `(\w+)` \| [^|]+ \|([^|]*)\|$", re.MULTILINE)
    return [Step(file, name, form.strip()) for file, name, form in row.findall(section)]


def tree_of(file: str) -> ast.Module:
    return ast.parse((SOURCE / file).read_text())


def imported_by(file: str) -> set[str]:
    """Modules that a file names in its imports, wherever these stand."""
    found = set()
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{name.name}" for name in node.names)
    return found


@pytest.mark.parametrize(
    "step", [step for title in WALKS for step in walk(title)], ids=lambda step: step.file
)
def test_every_step_is_where_the_page_says(step: Step) -> None:
    kinds = (ast.FunctionDef, ast.ClassDef)
    assert step.name in {node.name for node in tree_of(step.file).body if isinstance(node, kinds)}


@pytest.mark.parametrize("title", WALKS)
def test_one_step_leads_to_the_next(title: str) -> None:
    steps = walk(title)
    reached = set().union(*(imported_by(step.file) for step in steps))
    for step in steps[1:]:
        if step.file in NAMED_BY_THE_SITE:
            continue
        module = "dovetail." + step.file.removesuffix(".py").replace("/", ".")
        # A format and the simulator are entered through their packages.
        assert {module, module.rpartition(".")[0]} & reached, step.file


@pytest.mark.parametrize(("title", "most"), WALKS.items())
def test_the_walk_is_short(title: str, most: Most) -> None:
    steps = walk(title)
    assert len({step.file for step in steps}) == len(steps) >= 15
    assert len(steps) <= most.files
    forms = [step.form for step in steps if step.form]
    assert len(forms) <= most.conversions
    ends = [tuple(part.strip("` ") for part in form.split("→")) for form in forms]
    assert all(before[1] == after[0] for before, after in pairwise(ends))
