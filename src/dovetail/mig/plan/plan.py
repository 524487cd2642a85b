"""A plan: what each GPU of each node is to be cut into, checked against the hardware's rules.

>>> from dovetail.mig.gpus.table import GPU_MODELS
>>> model = GPU_MODELS["a100-40"]
>>> plan = MigPlan(model, deal(["mig-1", "mig-2"], 1, parse_cuts("1,4g.20gb+3g.20gb", model)))
>>> [group.nodes for group in plan.groups]
[('mig-1',), ('mig-2',)]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dovetail.domain.cluster import MAX_GPUS_PER_NODE
from dovetail.domain.errors import ConfigError, MigRuleError
from dovetail.mig.gpus.model import GpuModel

Cut = tuple[str, ...]
"""The profiles of one GPU's instances."""

MOST_GPUS = 100_000
"""Of one plan."""

# Names go into YAML, into Slurm's files and onto command lines: letters, digits, dot, dash.
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)


@dataclass(frozen=True)
class NodePlan:
    """One node's GPUs by index."""

    node: str
    gpus: tuple[Cut, ...]


@dataclass(frozen=True)
class NodeGroup:
    """Nodes that are cut alike, and the name of that configuration."""

    name: str
    nodes: tuple[str, ...]
    gpus: tuple[Cut, ...]


@dataclass(frozen=True)
class MigPlan:
    """Nodes with GPUs of one model; raises MigRuleError if a GPU cannot be cut so."""

    model: GpuModel
    nodes: tuple[NodePlan, ...]
    name: str = "dovetail"  # configurations are called name-1, name-2, ...

    def __post_init__(self) -> None:
        _refuse_unsafe("configuration name", self.name)
        if not self.nodes:
            raise ConfigError("a plan needs at least one node")
        for node, count in Counter(part.node for part in self.nodes).items():
            _refuse_unsafe("node name", node)
            if count > 1:
                raise ConfigError(f"node {node} is named twice")
        legal: set[Cut] = set()
        for part in self.nodes:
            self._check(part, legal)

    def _check(self, part: NodePlan, legal: set[Cut]) -> None:
        """Cuts that were found to be legal are not looked at again: there are few of them."""
        for index, cut in enumerate(part.gpus):
            if cut not in legal:
                try:
                    self.model.place(cut)
                except MigRuleError as broken:
                    raise MigRuleError(
                        broken.rule, f"node {part.node} GPU {index}: {broken.problem}"
                    ) from None
                legal.add(cut)

    @cached_property
    def groups(self) -> tuple[NodeGroup, ...]:
        alike: dict[tuple[Cut, ...], list[str]] = {}
        for part in self.nodes:
            alike.setdefault(part.gpus, []).append(part.node)
        return tuple(
            NodeGroup(f"{self.name}-{number}", tuple(nodes), gpus)
            for number, (gpus, nodes) in enumerate(alike.items(), start=1)
        )

    def counts(self, gpus: Sequence[Cut]) -> dict[str, int]:
        """Instances of each profile on these GPUs, the largest first."""
        found = Counter(profile for cut in gpus for profile in cut)
        names = (profile.name for profile in reversed(self.model.profiles))
        return {name: found[name] for name in names if found[name]}


def parse_cuts(text: str, model: GpuModel) -> list[Cut]:
    """`1,1,3g.20gb+2g.10gb`: one GPU after the other, by configuration number or by profiles."""
    cuts: list[Cut] = []
    for item in (part.strip() for part in text.split(",")):
        if item.isascii() and item.isdecimal():
            cuts.append(cut_of(int(item[:6]), model))
        else:
            names = tuple(name.strip() for name in item.split("+"))
            model.place(names)
            cuts.append(names)
    return cuts


def cut_of(number: int, model: GpuModel) -> Cut:
    """The profiles of a numbered configuration."""
    return tuple(part.profile for part in model.configuration(number).slices)


def deal(nodes: Sequence[str], gpus: int, cuts: Sequence[Cut]) -> tuple[NodePlan, ...]:
    """The cuts of one node for every node, or those of all nodes, node by node."""
    refuse_too_many(nodes, gpus)
    if len(cuts) not in (gpus, gpus * len(nodes)):
        raise ConfigError(
            f"{len(cuts)} configurations; give {gpus} (one per GPU of a node) or "
            f"{gpus * len(nodes)} (one per GPU of all {len(nodes)} nodes)"
        )
    all_cuts = list(cuts) * (1 if len(cuts) == gpus * len(nodes) else len(nodes))
    return tuple(
        NodePlan(node, tuple(all_cuts[index * gpus : (index + 1) * gpus]))
        for index, node in enumerate(nodes)
    )


def refuse_too_many(nodes: Sequence[str], gpus: int) -> None:
    """Raise unless there are nodes, with as many GPUs each as a node can have."""
    if not 1 <= gpus <= MAX_GPUS_PER_NODE:
        raise ConfigError(f"{gpus} GPUs per node, expected 1 to {MAX_GPUS_PER_NODE}")
    if not 1 <= len(nodes) * gpus <= MOST_GPUS:
        raise ConfigError(
            f"{len(nodes):,} nodes with {gpus} GPUs each; a plan is for 1 to {MOST_GPUS:,} GPUs"
        )


def spread(nodes: Sequence[str], gpus: int, cuts: Sequence[Cut]) -> tuple[NodePlan, ...]:
    """Deal the cuts out like cards: a node that fails takes an even share of each size along."""
    return deal(
        nodes, gpus, [cut for first in range(len(nodes)) for cut in cuts[first :: len(nodes)]]
    )


def _refuse_unsafe(kind: str, name: str) -> None:
    if _SAFE.fullmatch(name) is None:
        raise ConfigError(
            f"{kind} {name[:70]!r}: use letters, digits, dots, dashes and underscores, "
            "at most 63, beginning with a letter or digit"
        )
