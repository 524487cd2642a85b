"""Every example in a docstring of the package runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import dovetail.slurm

MODULES = [each.name for each in pkgutil.walk_packages(dovetail.slurm.__path__, "dovetail.slurm.")]


@pytest.mark.parametrize("name", ["dovetail.slurm", *MODULES])
def test_the_examples_of_a_module_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
