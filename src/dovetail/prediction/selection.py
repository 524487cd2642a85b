"""Sorting a few numbers, and the k-th smallest of many, in kernels.

NumPy's own compile for three to seven seconds each, these for a few hundredths.
"""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.domain.jobs import Floats, Ints


@inner
def sort_few(values: Floats) -> None:
    """Put a few numbers in ascending order, in place."""
    for i in range(1, len(values)):
        value, at = values[i], i
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value


@inner
def order_few(values: Floats, order: Ints) -> None:
    """Write the places of a few numbers in ascending order; equal ones stay as they come."""
    for i in range(len(values)):
        at = i
        while at > 0 and values[order[at - 1]] > values[i]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i


@inner
def kth_smallest(values: Floats, k: int) -> float:
    """The number that would stand at place k; the others change places (Hoare's selection)."""
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if k <= right:
            high = right
        elif k >= left:
            low = left
        else:
            break
    found: float = values[k]
    return found
