"""Every example in a docstring of the live part runs."""

from __future__ import annotations

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
