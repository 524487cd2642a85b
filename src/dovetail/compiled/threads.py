"""What several threads of compiled code may do with the same memory."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


@intrinsic
def add_at_once(typing_context: Any, counts: Any, by: Any) -> Any:
    """Of kernels: add to the first of an array of whole numbers, and what it was before.

    No two threads see the same number.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(counts)(context, builder, arguments[0])
        by = context.cast(builder, arguments[1], signature.args[1], types.int64)
        return builder.atomic_rmw("add", array.data, by, "monotonic")

    return types.int64(counts, by), generate
