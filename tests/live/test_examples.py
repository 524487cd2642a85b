"""Every example in a docstring of the live part runs."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil

import pytest

import dovetail.files
import dovetail.live

MODULES = [
    name
    for package in (dovetail.live, dovetail.files)
    for name in [
        package.__name__,
        *(each.name for each in pkgutil.walk_packages(package.__path__, package.__name__ + ".")),
    ]
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_no_module_shows_code_that_is_not_run(name: str) -> None:
    text = importlib.import_module(name).__doc__ or ""
    parts = doctest.DocTestParser().parse(text)
    prose = [line for part in parts if isinstance(part, str) for line in part.splitlines()]
    assert [line for line in prose[1:] if is_code(line)] == []


def is_code(line: str) -> bool:
    """Whether a line outside an example is a call or an assignment; prose is neither."""
    text = line.strip()
    try:
        tree = ast.parse(f"{text} pass" if text.endswith(":") else text)
    except SyntaxError:
        return False
    return any(isinstance(node, ast.Call | ast.Assign | ast.With) for node in ast.walk(tree))
