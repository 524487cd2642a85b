"""Constraints are read as Slurm reads them, and never harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.domain.constraints import meets


@pytest.mark.parametrize(
    ("constraint", "features", "met"),
    [
        ("ib", "ib", True),
        ("ib", "gold", False),
        ("gold&ib", "gold ib", True),
        ("gold,ib", "gold", False),
        ("gold|ib", "ib", True),
        ("gold|ib&cray", "gold", False),  # from left to right
        ("gold|(ib&cray)", "gold", True),
        ("[rack1|rack2]", "rack2", True),
        ("ib*4", "ib", True),
        ("(", "", True),
        ("", "", True),
    ],
)
def test_which_nodes_will_do(constraint: str, features: str, met: bool) -> None:
    assert meets(constraint, features.split()) is met


@given(st.text(alphabet="ab&|,()[]*2 ", max_size=400))
def test_any_text_has_an_answer(constraint: str) -> None:
    assert meets(constraint, ("a",)) in (True, False)
