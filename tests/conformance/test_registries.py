"""Every registry: each part passes its check, and a misspelt name is answered in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dovetail.domain.errors import UnknownName
from dovetail.domain.registry import Registry
from tests.conformance.parts import CHECKS, named
from tests.conformance.registries import registries

ENTRIES = [
    pytest.param(registry, name, id=f"{constant} {name}")
    for constant, registry in registries().items()
    for name in registry
]
PARTS = [
    pytest.param(constant, name, id=f"{constant} {name}")
    for constant, registry in registries().items()
    for name in registry
]


def test_every_registry_has_a_check() -> None:
    assert set(registries()) - set(CHECKS) == set()


@pytest.mark.parametrize(("constant", "name"), PARTS)
def test_every_part_passes_the_check_of_its_registry(
    constant: str, name: str, tmp_path: Path
) -> None:
    part = registries()[constant][name]
    named(name, part)
    CHECKS[constant](name, part, tmp_path)


@pytest.mark.parametrize(("registry", "name"), ENTRIES)
def test_a_misspelt_name_is_answered_with_the_nearest(registry: Registry[Any], name: str) -> None:
    with pytest.raises(UnknownName, match="did you mean") as caught:
        registry[f"{name}x"]
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("constant", list(registries()))
def test_a_name_like_no_other_is_answered_with_the_list(constant: str) -> None:
    registry = registries()[constant]
    with pytest.raises(UnknownName, match="known are") as caught:
        registry["???"]
    assert all(name in str(caught.value) for name in registry)
