"""Choosing MIG configurations again, by trying every combination."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement

from dovetail.mig.gpus.model import GpuModel


def headrooms(
    demand: Mapping[str, float], numbers: tuple[int, ...], model: GpuModel
) -> list[float]:
    """Instances of a size or larger over the need for them, for each size asked for; ascending."""
    order = [profile.name for profile in model.profiles]
    there = [p for n in numbers for p, c in model.configuration(n).counts.items() for _ in range(c)]
    found = []
    for rank, name in enumerate(order):
        if demand.get(name, 0.0) > 0:
            larger = order[rank:]
            needed = 0.0
            for other in reversed(larger):  # the order of summing decides the last bit
                needed += demand.get(other, 0.0)
            found.append(sum(part in larger for part in there) / needed)
    return sorted(found)


def best_headrooms(demand: Mapping[str, float], gpus: int, model: GpuModel) -> list[float]:
    """The best that any combination of configurations reaches."""
    numbers = [cut.number for cut in model.configurations]
    return max(
        headrooms(demand, chosen, model) for chosen in combinations_with_replacement(numbers, gpus)
    )


def all_served(needs: list[str], instances: list[str], model: GpuModel) -> bool:
    """Whether every need can have an instance of its own, tried one assignment after another."""
    order = [profile.name for profile in model.profiles]
    if not needs:
        return True
    first, *rest = needs
    return any(
        all_served(rest, instances[:index] + instances[index + 1 :], model)
        for index, instance in enumerate(instances)
        if order.index(instance) >= order.index(first)
    )
