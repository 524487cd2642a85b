"""Every example in a docstring, in README and in CONTRIBUTING runs; none is left unmarked."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.conformance.registries import modules

ROOT = Path(__file__).resolve().parents[2]


def name_of(module: ModuleType) -> str:
    return module.__name__


@pytest.mark.parametrize("module", modules(), ids=name_of)
def test_the_examples_of_a_module_run(module: ModuleType, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("module", modules(), ids=name_of)
def test_no_docstring_shows_code_that_is_not_run(module: ModuleType) -> None:
    found = []
    tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            found += unmarked_code(ast.get_docstring(node) or "")
    assert found == []


def unmarked_code(text: str) -> list[str]:
    """Lines of a docstring that are code, but no example that doctest would run."""
    parts = doctest.DocTestParser().parse(text)
    prose = [line for part in parts if isinstance(part, str) for line in part.splitlines()]
    return [line for line in prose[1:] if is_code(line)]


def is_code(line: str) -> bool:
    """Whether a line is an import, or nothing but a call or an assignment of one."""
    text = line.partition("  #")[0].strip()
    try:
        tree = ast.parse(f"{text} pass" if text.endswith(":") else text)
    except SyntaxError:
        return False
    return any(
        isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.With | ast.FunctionDef)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in tree.body
    )


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_python_of_a_page_runs(page: str, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "example"}
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, page, "exec"), names)
