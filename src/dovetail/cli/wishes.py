"""What became of wishes for nodes and reservations by name, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS = {
    "node_lists": (
        "lists of nodes",
        {
            "named": "asked for nodes by name",
            "excluded": "ruled nodes out by name",
            "left_out": "replayed without a list: nodes would be of too many kinds",
            "not_met": "on any nodes: those asked for by name cannot hold them",
        },
    ),
    "reservations": (
        "reservations",
        {
            "asked": "asked for one",
            "unknown": "replayed without: the cluster has none of that name",
            "left_out": "replayed without: nodes would be of too many kinds",
            "not_met": "replayed without: its nodes cannot hold them",
            "not_let_in": "replayed without: it is for other users or accounts",
        },
    ),
    "features": (
        "features",
        {
            "none_asked": "without any (-C), though nodes have some: features not in this export?"
            " Constraints of sacct tells them",
        },
    ),
}


def wish_lines(counts: Mapping[str, Any]) -> list[str]:
    """One line for each count that is not 0.

    >>> wish_lines({"node_lists": {"named": 1, "not_met": 0}, "seed": 7})
    ['lists of nodes: 1 job asked for nodes by name']
    """
    return [
        f"{title}: {count:,} {'job' if count == 1 else 'jobs'} {words[what]}"
        for key, (title, words) in _WORDS.items()
        for what, count in counts.get(key, {}).items()
        if count
    ]
