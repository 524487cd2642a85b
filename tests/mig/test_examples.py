"""The examples in docstrings about sliced GPUs run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import dovetail.mig

MODULES = [
    part.name
    for part in pkgutil.walk_packages(dovetail.mig.__path__, "dovetail.mig.")
    if not part.name.startswith("dovetail.mig.agents")
]


@pytest.mark.parametrize("module", ["dovetail.mig", *MODULES])
def test_the_doctests_of_every_module_pass(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0
