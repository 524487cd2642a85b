"""Names to things: one registry per kind of part, with "did you mean" for unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from dovetail.domain.errors import UnknownName

T = TypeVar("T")

LONGEST_NAME = 60
"""Characters of a wrong name that an error repeats and looks for."""


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
        except (KeyError, TypeError):  # TypeError: a list or the like
            raise self.unknown(name) from None

    def __contains__(self, name: object) -> bool:
        # Mapping's own version calls __getitem__ and expects KeyError.
        return isinstance(name, str) and name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def unknown(self, name: object, *others: str) -> UnknownName:
        """The error for a name that is neither here nor among the `others` that would do, too."""
        known = [*self._parts, *others]
        text = str(name)[:LONGEST_NAME]
        close = difflib.get_close_matches(text, known, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}? " if close else ""
        return UnknownName(f"unknown {self.kind} {text!r}: {hint}known are {', '.join(known)}")
