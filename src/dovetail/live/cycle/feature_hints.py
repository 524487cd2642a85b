"""The feature by which the nodes with one type of GPU can be asked for, where they have one.

>>> nodes = [
...     LiveNode("a", "IDLE", gpus=4, gpu_type="m40", features=frozenset({"m40", "ib", "rack1"})),
...     LiveNode("b", "IDLE", gpus=4, gpu_type="m40", features=frozenset({"m40", "ib"})),
...     LiveNode("c", "IDLE", gpus=4, gpu_type="k80", features=frozenset({"k80", "ib"})),
... ]
>>> sorted(features_of_types(nodes).items())
[('k80', 'k80'), ('m40', 'm40')]
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from dovetail.live.model.decision import PLAIN_FEATURE
from dovetail.live.model.snapshot import LiveNode


def features_of_types(nodes: Iterable[LiveNode]) -> dict[str, str]:
    """By type of GPU the feature that most of its nodes have, and none of another type.

    Nothing where all GPUs are of one type: then a feature tells nothing that a node does not.
    """
    having: dict[str, list[str]] = defaultdict(list)  # types of the nodes that have a feature
    types = set()
    for node in nodes:
        if node.gpus:
            types.add(node.gpu_type)
            for feature in node.features:
                having[feature].append(node.gpu_type)
    found: dict[str, tuple[int, str]] = {}
    for feature in sorted(having):
        kinds = having[feature]
        if len(set(kinds)) > 1 or not re.fullmatch(PLAIN_FEATURE, feature):
            continue
        if len(kinds) > found.get(kinds[0], (0, ""))[0]:
            found[kinds[0]] = (len(kinds), feature)
    return {kind: feature for kind, (_, feature) in found.items()} if len(types) > 1 else {}
