"""Kept answers change nothing in what is compiled, and nothing in Numba for others."""

from __future__ import annotations

import operator
import pickle
import re
from typing import Any

import numba
import numpy as np
import pytest
from numba import types
from numba.core import base
from numba.core.types.functions import BaseFunction

from dovetail.compiled.functions import InnerKernel, inner
from dovetail.compiled.remembered import ANSWERS, Answers


@inner
def mean_of_some(values: Any, from_: int) -> float:
    total = 0.0
    for i in range(from_, len(values)):
        total += values[i] * 2 - 1
    return total / (len(values) - from_)


@inner
def divide(a: int, b: int) -> float:
    return a / b


@numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
def ours(values: Any) -> float:
    return mean_of_some(values, 1) + divide(len(values), 0)


@numba.njit  # type: ignore[untyped-decorator]
def theirs(a: int, b: int) -> float:
    return a / b


def test_answers_are_right_for_every_type() -> None:
    values = [1.0, 2.0, 4.0]
    for kind in (np.float64, np.float32, np.int64):
        assert ours(np.array(values, kind)) == np.inf
    # An inner kernel has asked for a division that does not check, and was answered.
    with pytest.raises(ZeroDivisionError):
        theirs(1, 0)


def machine_code() -> str:
    """Of functions that are compiled now; names of symbols have a number that goes up, and with it
    the sizes of texts that hold them."""

    @inner
    def add_all(values: Any, less: float) -> float:
        total = 0.0
        for i in range(len(values)):
            total += values[i] * 2 - less
        return total

    @numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def call(values: Any) -> float:
        return add_all(values, 1) / len(values)

    call(np.ones(3))
    (found,) = call.inspect_asm().values()
    return re.sub(r"_ZN\w+|\.L\w+|NumbaEnv\w*|\.size.*|(?<=[.$])\d+", "", found)


def test_the_machine_code_is_the_same_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = machine_code()
    monkeypatch.setattr(ANSWERS, "_active", True)  # as if somebody else saw to it
    assert machine_code() == kept


def test_a_question_is_answered_once() -> None:
    asked: list[Any] = []
    answers, context = Answers(), numba.core.registry.cpu_target.typing_context
    find = answers._find
    answers._find = lambda *given: asked.append(given) or find(*given)  # type: ignore[func-returns-value]
    add = context.resolve_value_type(operator.add)
    with answers.kept(), answers.kept():
        for kinds in 3 * [(types.int64, types.int64)] + [(types.int64, types.float64)]:
            given = add.get_call_type(context, kinds, {})
        assert given.return_type is types.float64
    assert len(asked) == 2


def test_numba_is_as_before_even_after_an_error() -> None:
    places = (BaseFunction, "get_call_type"), (base.BaseContext, "get_abi_sizeof")
    before = [getattr(*place) for place in places]
    with ANSWERS.kept():
        assert [getattr(*place) for place in places] != before
    with pytest.raises(ValueError, match="x"), ANSWERS.kept():
        int("x")
    assert [getattr(*place) for place in places] == before


def test_an_inner_kernel_is_unknown_to_numba_until_it_is_called() -> None:
    lazy = InnerKernel(lambda a: a + 1)
    assert "dispatcher" not in vars(lazy)
    assert isinstance(numba.typeof(lazy), types.Dispatcher)
    assert pickle.loads(pickle.dumps(divide)) is divide
