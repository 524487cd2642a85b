"""A registry takes parts from outside under new names only, and says what is wrong with others."""

from __future__ import annotations

import pytest

from dovetail.domain.errors import ConfigError
from dovetail.domain.registry import Registry, instances_of


def some() -> Registry[int]:
    return Registry("number", {"one": 1}, admit=instances_of(int, "own"))


def test_what_is_registered_is_found_and_known_as_such() -> None:
    numbers = some()
    assert numbers.register("two", 2) == 2
    assert (list(numbers), len(numbers), numbers["two"]) == (["one", "two"], 2, 2)
    assert (numbers.is_registered("two"), numbers.is_registered("one")) == (True, False)


@pytest.mark.parametrize(
    ("name", "part", "why"),
    [
        ("one", 2, "the name 'one' is taken"),
        ("a+b", 2, "cannot be a name"),
        ("", 2, "cannot be a name"),
        ("own", 2, "reserved"),
        ("two", "2", "it is str, expected int"),
    ],
)
def test_names_and_parts_that_do_not_suit_are_refused(name: str, part: object, why: str) -> None:
    numbers = some()
    with pytest.raises(ConfigError, match=why):
        numbers.register(name, part)
    assert list(numbers) == ["one"]


def test_a_registry_of_ours_alone_takes_nothing() -> None:
    with pytest.raises(ConfigError, match="none can be added from outside"):
        Registry("number", {"one": 1}).register("two", 2)
