"""Names to things: one registry per kind of part, with "did you mean" for unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from dovetail.domain.errors import UnknownName

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """A read-only mapping from names to parts of one kind.

    >>> orders = Registry("ordering", {"fcfs": 1, "sjf": 2})
    >>> orders["sjf"]
    2
    """

    def __init__(self, kind: str, parts: Mapping[str, T]) -> None:
        self.kind = kind
        self._parts = dict(parts)

    def __getitem__(self, name: str) -> T:
        try:
            return self._parts[name]
        except KeyError:
            raise UnknownName(self._unknown(name)) from None

    def __contains__(self, name: object) -> bool:
        # Mapping's own version calls __getitem__ and expects KeyError.
        return name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def _unknown(self, name: str) -> str:
        close = difflib.get_close_matches(name, self._parts, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}? " if close else ""
        return f"unknown {self.kind} {name!r}: {hint}known are {', '.join(self._parts)}"
