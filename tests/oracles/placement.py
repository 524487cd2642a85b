"""On which nodes a job goes, given which nodes are admissible (semantics, 6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from tests.oracles.shapes import Amount, Option, Site

Chunks = list[tuple[int, Amount]]  # node and what is taken of it, in the order chosen
Admits = Callable[[int, Amount, Chunks], bool]
"""May this chunk go on this node now, if the job already has those chunks elsewhere?"""

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
        case "best-fit" | "topology-aware" | "gpu-affinity" | "suited":
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
        chosen = _place_in(site, group, admits, prefer, few_switches)
        if chosen is not None:
            return chosen
    return None


def _place_in(
    site: Site, group: Sequence[Option], admits: Admits, prefer: Prefer, few_switches: bool
) -> Chunks | None:
    """One chunk after the other, each on the admissible node that is preferred."""
    first = group[0]
    larges = {n: option.large for option in group for n in option.hosts_large}
    smalls = {n: option.small for option in group for n in option.hosts_small}
    large = [n for n, chunk in larges.items() if admits(n, chunk, [])]
    small = [n for n, chunk in smalls.items() if admits(n, chunk, [])]
    if len(large) < first.many or len(small) < first.width:
        return None
    large.sort(key=lambda node: (prefer(node, larges[node]), node))
    small.sort(key=lambda node: (prefer(node, smalls[node]), node))
    if few_switches and first.width > 1:
        switches = choose_switches(site, large, first.many)
        rank = {switch: i for i, switch in enumerate(switches)}
        large.sort(key=lambda node: rank.get(site.switch(node), len(rank)))  # stable
        small.sort(key=lambda node: site.switch(node) not in rank)
    chosen: Chunks = []
    for nodes, chunks, count in ((large, larges, first.many), (small, smalls, first.few)):
        for _ in range(count):
            used = {node for node, _ in chosen}
            free = (n for n in nodes if n not in used and admits(n, chunks[n], chosen))
            node = next(free, None)
            if node is None:
                return None
            chosen.append((node, chunks[node]))
    return chosen


def choose_switches(site: Site, nodes: Sequence[int], missing: int) -> list[int]:
    """Switches for so many nodes: the snuggest that holds the rest, else the fullest."""
    room: dict[int, int] = {}
    for node in nodes:
        room[site.switch(node)] = room.get(site.switch(node), 0) + 1
    chosen: list[int] = []
    while missing > 0:
        enough = [switch for switch in room if room[switch] >= missing]
        if enough:
            switch = min(enough, key=lambda switch: (room[switch], switch))
        else:
            switch = min(room, key=lambda switch: (-room[switch], switch))
        missing -= room.pop(switch)
        chosen.append(switch)
    return chosen
