"""Every example in a docstring, in README and in CONTRIBUTING runs; none is left unmarked."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest

from tests.conformance.registries import modules
from tests.style.example_names import LEFT_OUT, PAGE, names_for, write_files
from tests.style.small_settings import SMALL
from tests.telemetry.exporter import exporting

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = re.compile(r"http://(?:node[12]:9400/metrics|exporter:9400/metrics)")
"""Hosts in examples; an exporter of our own answers for them."""


def name_of(module: ModuleType) -> str:
    return module.__name__


def code_in(module: ModuleType) -> Iterator[str]:
    """Paragraphs of docstrings that are Python, and no examples for doctest."""
    for node in documented(ast.parse(source_of(module))):
        text = ast.get_docstring(node) or ""
        for paragraph in text.split("\n\n")[1:]:
            if ">>>" not in paragraph and is_code(dedent(paragraph)):
                yield dedent(paragraph)


def documented(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> Iterator[Any]:
    """It, and classes and functions in it: expressions have no docstrings and are many."""
    yield node
    for inner in node.body:
        if isinstance(inner, ast.ClassDef | ast.FunctionDef):
            yield from documented(inner)


DOES = (
    ast.Import,
    ast.ImportFrom,
    ast.Assign,
    ast.With,
    ast.For,
    ast.If,
    ast.FunctionDef,
    ast.ClassDef,
)
"""Statements that prose never is."""


def is_code(text: str) -> bool:
    """Whether all of it is statements, and one of them does something; prose does not parse."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    return any(
        isinstance(node, DOES) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in tree.body
    )


def source_of(module: ModuleType) -> str:
    return Path(module.__file__ or "").read_text(encoding="utf-8")


WITH_DOCTESTS = [module for module in modules() if ">>> " in source_of(module)]
WITH_CODE = [module for module in modules() if any(code_in(module))]


@pytest.mark.parametrize("module", WITH_DOCTESTS, ids=name_of)
def test_the_examples_of_a_module_run(module: ModuleType, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(module)
    assert (found.attempted > 0, found.failed) == (True, 0)


@pytest.mark.parametrize("module", WITH_CODE, ids=name_of)
def test_the_code_in_a_docstring_runs(module: ModuleType, monkeypatch: Any, tmp_path: Path) -> None:
    """Paragraphs that are Python, too, though nothing says so."""
    name = module.__name__.removeprefix("dovetail.")
    if name in LEFT_OUT:
        pytest.skip(LEFT_OUT[name])
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    small = SMALL[name](tmp_path) if name in SMALL else {}
    names = {**names_for(module.__name__, tmp_path), **vars(module), **small}
    with exporting(PAGE) as exporter:
        for number, block in enumerate(code_in(module)):
            run_block(ADDRESS.sub(exporter.url, block), tmp_path / f"example{number}.py", names)


def run_block(block: str, file: Path, names: dict[str, Any]) -> None:
    """From a file, as compiled functions are kept by theirs."""
    file.write_text(block, encoding="utf-8")
    exec(compile(block, str(file), "exec", dont_inherit=True), names)


@pytest.mark.parametrize("name", list(LEFT_OUT))
def test_what_is_left_out_is_still_there(name: str) -> None:
    assert any(
        module.__name__ == f"dovetail.{name}" and list(code_in(module)) for module in modules()
    )


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_python_of_a_page_runs(page: str, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "example"}
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, page, "exec"), names)
