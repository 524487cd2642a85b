"""The examples of the documents and docstrings about sliced GPUs run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import dovetail.mig

ROOT = Path(__file__).resolve().parents[2]
MODULES = [
    part.name
    for part in pkgutil.walk_packages(dovetail.mig.__path__, "dovetail.mig.")
    if not part.name.startswith("dovetail.mig.agents")
]


@pytest.mark.parametrize("module", ["dovetail.mig", *MODULES])
def test_the_doctests_of_every_module_pass(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_the_python_examples_of_the_page_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/mig.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/mig.md", "exec"), {})
