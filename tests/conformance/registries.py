"""Every registry in the source, found by walking its modules: none can be forgotten."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

import dovetail
from dovetail.domain.registry import Registry

OPTIONAL = (
    "torch", "tensorboard", "stable_baselines3", "sb3_contrib", "ray", "highspy", "pettingzoo",
)  # fmt: skip
"""What a module may need that is not installed everywhere."""


@cache
def registries() -> dict[str, Registry[Any]]:
    """By the name of the module-level constant; two of one name are an error."""
    found: dict[str, Registry[Any]] = {}
    for module in modules():
        for name, value in vars(module).items():
            if isinstance(value, Registry):
                assert found.setdefault(name, value) is value, f"two registries are called {name}"
    return found


@cache
def modules() -> tuple[Any, ...]:
    """Every module of the source that can be imported here."""
    found = []
    for part in pkgutil.walk_packages(dovetail.__path__, "dovetail."):
        if part.name.endswith("__main__"):
            continue
        try:
            found.append(importlib.import_module(part.name))
        except ImportError as problem:
            if (problem.name or "").partition(".")[0] not in OPTIONAL:
                raise
    return tuple(found)
