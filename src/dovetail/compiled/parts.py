"""Parts of kernels that few runs need: compiled when one does, called by an address in the world.

    from dovetail.compiled.tables import new_table

    class Site(Row):
        size: int
        grow_part: int                                    # 0: this run does not need it

    grow = part_call(Site, "grow_part", types.int64, types.int64)     # in kernels: grow(site, 3)

    site_at = row_at(Site)

    def _grow(site: int, by: int) -> int:                 # what lies there
        site_at(site).size += by
        return site_at(site).size

    GROW = OptionalPart("grow_part", types.int64(types.int64, types.int64), _grow)

    site = new_table(Site, 1)

    site["grow_part"] = GROW.address                      # compiles it, or loads it

Rows go as addresses, so that a part begins with `row_at`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from dovetail.compiled.functions import LazyFunction
from dovetail.compiled.tables import Row, column_offset, dtype_of, load_word

T = TypeVar("T", bound=Row)


class OptionalPart(LazyFunction):
    """A part and the column of the world for its address."""

    def __init__(self, column: str, signature: Any, function: Callable[..., Any]) -> None:
        super().__init__(signature, function)
        self.column = column


def row_at(row: type[T]) -> Callable[[int], T]:
    """A function for kernels: the row at an address."""
    record = numba.from_dtype(dtype_of(row))

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(record))

        return record(types.int64), generate

    found: Callable[[int], T] = at
    return found


def part_call(world: type[Row], column: str, result: Any, *others: Any) -> Callable[..., Any]:
    """A function for kernels: call the part in a column with the world, then numbers or rows.

    `others`: int64, float64, or a class of rows.
    """
    offset = column_offset(world, column)
    taken = [other if isinstance(other, types.Type) else None for other in others]

    def call(typing_context: Any, world: Any, *given: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word, words = ir.IntType(64), []
            for kind, value in zip(signature.args, arguments, strict=True):
                is_row = isinstance(kind, types.Record)
                words.append(builder.ptrtoint(value, word) if is_row else value)
            nothing = signature.return_type == types.void
            back = ir.VoidType() if nothing else context.get_value_type(signature.return_type)
            function = ir.FunctionType(back, [each.type for each in words]).as_pointer()
            address = load_word(builder, arguments[0], offset)
            found = builder.call(builder.inttoptr(address, function), words)
            return context.get_dummy_value() if nothing else found

        kinds = [own or other for own, other in zip(taken, given, strict=True)]
        return result(world, *kinds), generate

    names = ["typing_context", "world", *(f"given_{i}" for i in range(len(others)))]
    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, plain) for name in names]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    found: Callable[..., Any] = intrinsic(call)
    return found
