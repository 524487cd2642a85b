"""Examples in the modules of telemetry run as they are written."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import dovetail.telemetry

MODULES = [
    module.name
    for module in pkgutil.walk_packages(dovetail.telemetry.__path__, "dovetail.telemetry.")
]


@pytest.mark.parametrize("module", MODULES)
def test_the_doctests_of_every_module_pass(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0
