"""Which nodes have the features that a job asks for, in the words of Slurm's --constraint.

>>> meets("gold&ib", ("gold", "ib")), meets("gold&ib", ("gold",)), meets("gold|ib", ("ib",))
(True, False, True)
>>> meets("[rack1|rack2]&(gold|ib*2)", ("rack2", "ib"))
True
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

_WORD = re.compile(r"\s*([&|,()\[\]]|[^&|,()\[\]\s]+)")
MOST = 200
"""Signs that are read of one: brackets in brackets cost a call each."""

_SIGNS = frozenset("&|,()[]")
_COUNT = re.compile(r"[*:]\d+$")
"""So many nodes with a feature: taken as all of them."""


def meets(constraint: str, features: Collection[str]) -> bool:
    """Whether a node with these features will do; signs are taken from left to right, as by Slurm.

    What cannot be read forbids nothing: Slurm has accepted the job.
    """
    words = iter(_words(constraint))
    try:
        return _either(words, features)
    except (StopIteration, ValueError):
        return True


@lru_cache(maxsize=4096)
def _words(constraint: str) -> tuple[str, ...]:
    return (*_WORD.findall(constraint[:MOST]), ")")


def _either(words: Iterator[str], features: Collection[str]) -> bool:
    found = _one(words, features)
    for sign in words:
        if sign in (")", "]"):
            return found
        other = _one(words, features)
        found = found or other if sign == "|" else found and other
    return found


def _one(words: Iterator[str], features: Collection[str]) -> bool:
    word = next(words)
    if word in ("(", "["):
        return _either(words, features)
    if word in _SIGNS:
        raise ValueError("a sign where a feature should stand")
    return _COUNT.sub("", word) in features
