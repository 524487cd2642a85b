"""The algebra of hyperdimensional vectors, and what retrieval by them finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.domain.errors import ConfigError
from dovetail.telemetry.encoding import (
    Field,
    HyperEncoder,
    Levels,
    PrototypeMemory,
    Symbols,
    bind,
    bundle,
    random_codes,
    similarity,
)

FIELDS: dict[str, Field] = {
    "model": Symbols(("volta", "turing", "radeon")),
    "utilisation": Levels(0.0, 1.0),
    "priority": Levels(0.0, 1.0, 4),
}


def codes(count: int, seed: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    return random_codes(np.random.default_rng(seed), count, 4096)


def test_binding_is_unlike_its_parts_and_undone_by_either() -> None:
    a, b = codes(2)
    assert abs(similarity(bind(a, b)[None], a[None])[0, 0]) < 0.08
    assert np.array_equal(bind(bind(a, b), b), a)


def test_a_bundle_is_like_each_of_its_parts_and_like_nothing_else() -> None:
    parts = codes(5)
    whole, other = bundle(parts), codes(1, seed=9)
    assert similarity(parts, whole[None]).min() > 0.25
    assert abs(similarity(other, whole[None])[0, 0]) < 0.08


def test_near_levels_look_alike_and_far_ones_do_not() -> None:
    encoder = HyperEncoder({"utilisation": Levels(0.0, 1.0)})
    found = similarity(
        encoder.encode([(0.0,)]), encoder.encode([(x,) for x in np.linspace(0, 1, 16)])
    )
    assert np.all(np.diff(found[0]) < 0.0)
    assert found[0, 1] > 0.9
    assert abs(found[0, -1]) < 0.1


@given(st.floats(allow_nan=True, allow_infinity=True), st.text(max_size=5))
def test_any_value_can_be_encoded(number: float, name: str) -> None:
    encoder = HyperEncoder(FIELDS, 64)
    assert encoder.encode([(name, number, number)]).shape == (1, 64)


def test_a_field_that_is_not_known_adds_nothing() -> None:
    encoder = HyperEncoder(FIELDS)
    known = encoder.encode([("volta", 0.5, 0.5)]) - encoder.encode([("volta", 0.5, np.nan)])
    assert set(np.unique(known)) == {-1, 1}
    assert not encoder.encode([("?", np.nan, np.nan)]).any()


def test_the_same_seed_gives_the_same_vectors() -> None:
    rows = [("volta", 0.5, 0.5)]
    assert np.array_equal(HyperEncoder(FIELDS).encode(rows), HyperEncoder(FIELDS).encode(rows))
    other = HyperEncoder(FIELDS, seed=1).encode(rows)
    assert abs(similarity(other, HyperEncoder(FIELDS).encode(rows))[0, 0]) < 0.1


def test_pairs_tell_apart_what_single_fields_cannot() -> None:
    """A busy Volta and an idle Radeon against an idle Volta and a busy Radeon."""
    rows = [("volta", 1.0, 0.5), ("radeon", 0.0, 0.5), ("volta", 0.0, 0.5), ("radeon", 1.0, 0.5)]
    names = ["a", "a", "b", "b"]
    encoder = HyperEncoder(FIELDS)
    assert (
        PrototypeMemory.learn(encoder.encode_pairs(rows), names).nearest(encoder.encode_pairs(rows))
        == names
    )


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ConfigError):
        Levels(1.0, 0.0)
    with pytest.raises(ConfigError):
        HyperEncoder({})
    with pytest.raises(ConfigError):
        PrototypeMemory.learn(codes(2), ["a"])
