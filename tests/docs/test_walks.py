"""The walk of a traced job on the architecture page leads through files that are there."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "dovetail"
MOST_FILES, MOST_CONVERSIONS = 20, 5


class Step(NamedTuple):
    """One row of the table."""

    file: str
    name: str
    form: str


def walk() -> list[Step]:
    text = (ROOT / "docs" / "architecture.md").read_text()
    section = text.partition("## The walk of a traced job")[2].partition("\n## ")[0]
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


@pytest.mark.parametrize("step", walk(), ids=lambda step: step.file)
def test_every_step_is_where_the_page_says(step: Step) -> None:
    kinds = (ast.FunctionDef, ast.ClassDef)
    assert step.name in {node.name for node in tree_of(step.file).body if isinstance(node, kinds)}


def test_one_step_leads_to_the_next() -> None:
    steps = walk()
    reached = set().union(*(imported_by(step.file) for step in steps))
    for step in steps[1:]:
        module = "dovetail." + step.file.removesuffix(".py").replace("/", ".")
        # A format and the simulator are entered through their packages.
        assert {module, module.rpartition(".")[0]} & reached, step.file


def test_the_walk_is_short() -> None:
    steps = walk()
    assert len({step.file for step in steps}) == len(steps) >= 15
    assert len(steps) <= MOST_FILES
    forms = [step.form for step in steps if step.form]
    assert len(forms) <= MOST_CONVERSIONS
    ends = [tuple(part.strip("` ") for part in form.split("→")) for form in forms]
    assert all(before[1] == after[0] for before, after in pairwise(ends))
