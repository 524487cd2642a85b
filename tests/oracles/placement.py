"""On which nodes a job goes, given which nodes are admissible (semantics, 6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from tests.oracles.shapes import Amount, Option, Site

Chunks = list[tuple[int, Amount]]  # node and what is taken of it, in the order chosen
Admits = Callable[[int, Amount], bool]  # may this chunk go on this node now?
Prefer = Callable[[int, Amount], float]  # lower is better


def preference(
    name: str, chunk: int, free: int, run: float, busy: float, seen: Mapping[int, int]
) -> float:
    """How little a placement likes to put `chunk` GPUs on a node with `free` free ones.

    By estimate the job runs for `run` seconds, and the node's last job for `busy` more.
    """
    match name:
        case "first-available":
            return 0
        case "best-fit" | "topology-aware" | "gpu-affinity":
            return free
        case "worst-fit":
            return -free
        case "fgd":
            growth = fragments(free - chunk, seen) - fragments(free, seen)
            return growth * 65 + free
        case "lifetime":
            return free + math.log(1 + max(0, run - busy) / 600)
    raise ValueError(f"no preference for {name!r}")


def fragments(free: int, seen: Mapping[int, int]) -> int:
    """GPUs free on a node, once for each job seen that they would not suffice for."""
    return free * sum(count for gpus, count in seen.items() if gpus > free)


def place(
    site: Site,
    groups: Sequence[Sequence[Option]],
    admits: Admits,
    prefer: Prefer,
    few_switches: bool,
) -> Chunks | None:
    """The chunks of a whole job in the first group that can hold it now."""
    for group in groups:
        first = group[0]
        large = [n for option in group for n in option.hosts_large if admits(n, option.large)]
        small = [n for option in group for n in option.hosts_small if admits(n, option.small)]
        if len(large) < first.many or len(small) < first.width:
            continue
        large.sort(key=lambda node: (prefer(node, first.large), node))
        small.sort(key=lambda node: (prefer(node, first.small), node))
        if few_switches and first.width > 1:
            large = on_few_switches(site, large, first.many)
            taken = {site.switch(node) for node in large[: first.many]}
            small.sort(key=lambda node: site.switch(node) not in taken)  # stable
        chosen = large[: first.many]
        rest = [node for node in small if node not in chosen][: first.few]
        return [(n, first.large) for n in chosen] + [(n, first.small) for n in rest]
    return None


def on_few_switches(site: Site, nodes: Sequence[int], missing: int) -> list[int]:
    """`missing` of these nodes, the snuggest switch that holds the rest first, else the fullest."""
    behind: dict[int, list[int]] = {}
    for node in nodes:
        behind.setdefault(site.switch(node), []).append(node)
    chosen: list[int] = []
    while missing > 0:
        enough = [switch for switch in behind if len(behind[switch]) >= missing]
        if enough:
            switch = min(enough, key=lambda switch: (len(behind[switch]), switch))
        else:
            switch = min(behind, key=lambda switch: (-len(behind[switch]), switch))
        taken = behind.pop(switch)[:missing]
        chosen += taken
        missing -= len(taken)
    return chosen
