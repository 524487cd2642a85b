"""Tables of records for compiled code: a class names the fields, memory holds the rows.

    class Point(Row):
        x: float
        count: int

    class Map(Row):
        points: int                      # [10] Point: the address of the table

    points = new_table(Point, 10)        # a NumPy structured array
    point = row_accessor(Map, "points", Point)     # in kernels: point(map, 3).x

Numba passes a tuple of arrays by value (seven words each) and counts references on every
access: with ninety arrays a job cost 80 µs. A `World` is one record that
holds the addresses of all tables, so that kernels pass a single pointer; a job costs 1 µs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, get_type_hints

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

Word = np.uint64
_FIELD_TYPES: dict[Any, str] = {int: "i8", float: "f8", bool: "?", Word: "u8"}


class Row:
    """Base of all rows; the annotations of a subclass are its fields, in order."""


Table = Any
"""A structured array. NumPy's types know nothing of columns: as `NDArray` nothing more would be
checked, and mypy would try every overload on every sum of two columns (40 s of its 130)."""

T = TypeVar("T", bound=Row)
W = TypeVar("W", bound=Row)


def dtype_of(row: type[Row]) -> np.dtype[np.void]:
    """The memory layout of a row."""
    key: Any = row  # a class is hashable, whatever its instances are
    return _dtype_of(key)


@cache  # reading the hints takes 0.6 ms, which windows of a thousand jobs would feel
def _dtype_of(row: Any) -> np.dtype[np.void]:
    hints = get_type_hints(row)
    return np.dtype([(name, _FIELD_TYPES[hint]) for name, hint in hints.items()], align=True)


def new_table(row: type[Row], rows: int) -> Table:
    """A table of zeros; at least one row, so that its address exists."""
    return np.zeros(max(1, rows), dtype_of(row))


def row_accessor(world: type[W], column: str, row: type[T]) -> Callable[[W, int], T]:
    """A function for kernels: row `index` of the table whose address is in `world.column`."""
    record = numba.from_dtype(dtype_of(row))
    size = dtype_of(row).itemsize
    offset = column_offset(world, column)

    @intrinsic
    def at(typing_context: Any, world: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer, index = arguments
            address = load_word(builder, pointer, offset)
            index = context.cast(builder, index, signature.args[1], types.int64)
            address = builder.add(address, builder.mul(index, index.type(size)))
            return builder.inttoptr(address, context.get_value_type(record))

        return record(world, index), generate

    accessor: Callable[[W, int], T] = at
    return accessor


def column_address(world: type[W], column: str, element: Any) -> Callable[[W], Any]:
    """A function for kernels: a typed pointer to the table whose address is in `world.column`."""
    pointer_type = types.CPointer(element)
    offset = column_offset(world, column)

    @intrinsic
    def address(typing_context: Any, world: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            found = load_word(builder, arguments[0], offset)
            return builder.inttoptr(found, context.get_value_type(pointer_type))

        return pointer_type(world), generate

    accessor: Callable[[W], Any] = address
    return accessor


def column_offset(world: type[Row], column: str) -> int:
    """Where a column lies in a row, in bytes."""
    fields = dtype_of(world).fields
    assert fields is not None
    return int(fields[column][1])


def load_word(builder: Any, pointer: Any, offset: int) -> Any:
    """Of compiled code: the word that lies so many bytes behind a pointer."""
    word = ir.IntType(64)
    base = builder.ptrtoint(pointer, word)
    return builder.load(builder.inttoptr(builder.add(base, word(offset)), word.as_pointer()))
