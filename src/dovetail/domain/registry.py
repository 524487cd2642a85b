"""Names to things: one registry per kind of part, with "did you mean" for unknown names.

A registry with a `group` also knows the parts that other packages offer under that name of an
entry-point group, and those that were given to `register`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from dovetail.domain.entry_points import NAME, Offer, offers_in, warn_of
from dovetail.domain.errors import ConfigError, ExtensionError, UnknownName

T = TypeVar("T")

LONGEST_NAME = 60
"""Characters of a wrong name that an error repeats and looks for."""


def instances_of(kind: type[T], *reserved: str) -> Callable[[str, Any], T]:
    """Admits objects of a class under their own name, unless it is reserved."""

    def admit(name: str, part: Any) -> T:
        if not isinstance(part, kind):
            raise ConfigError(f"it is {type(part).__name__}, expected {kind.__name__}")
        if name in reserved:
            raise ConfigError(f"the name {name!r} is reserved")
        own = getattr(part, "name", name)
        if own != name:
            raise ConfigError(f"it calls itself {own!r}; both names must be the same")
        return part

    return admit


def functions(name: str, part: Any) -> Any:
    """Admits whatever can be called."""
    if not callable(part):
        raise ConfigError(f"it is {type(part).__name__}, expected a function")
    return part


class Registry(Mapping[str, T], Generic[T]):
    """A mapping from names to parts of one kind.

    >>> orders = Registry("ordering", {"fcfs": 1, "sjf": 2})
    >>> orders["sjf"]
    2

    `admit` makes a part of what another package offers under a name, or raises ConfigError; only
    registries that have it take parts from outside. Ours come first, and none is replaced.
    """

    def __init__(
        self,
        kind: str,
        parts: Mapping[str, T],
        group: str | None = None,
        admit: Callable[[str, Any], T] | None = None,
        pattern: re.Pattern[str] = NAME,
    ) -> None:
        self.kind, self.group, self._pattern = kind, group, pattern
        self._parts, self._admit = dict(parts), admit
        self._built_in = frozenset(parts)
        self._offers: dict[str, Offer] | None = None  # None: not looked for yet
        self._refused: dict[str, ExtensionError] = {}
        self._registered: set[str] = set()

    def register(self, name: str, part: Any) -> T:
        """Add a part of your own to this process; returns it as the registry holds it."""
        if self._admit is None:
            raise ConfigError(f"{self.kind}: none can be added from outside")
        self._refuse_name(name)
        self._parts[name] = self._admit(name, part)
        self._registered.add(name)
        return self._parts[name]

    def is_built_in(self, name: str) -> bool:
        """Whether the part is one of ours."""
        return name in self._built_in

    def is_registered(self, name: str) -> bool:
        """Whether the part came by `register`: other processes do not know its name."""
        return name in self._registered

    def __getitem__(self, name: str) -> T:
        try:
            return self._parts[name]
        except (KeyError, TypeError):  # TypeError: a list or the like
            if name not in self:
                raise self.unknown(name) from None
        return self._take(name)

    def __contains__(self, name: object) -> bool:
        # Mapping's own version calls __getitem__ and expects KeyError.
        return isinstance(name, str) and (name in self._parts or name in self._found())

    def __iter__(self) -> Iterator[str]:
        """Names of all parts that can be used; others are left out with a warning."""
        for name in self._found():
            try:
                self._take(name)
            except ExtensionError:
                continue
        return iter(list(self._parts))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def names(self) -> list[str]:
        """All names, without importing what other packages offer; some of it may be broken."""
        return [*self._parts, *(name for name in self._found() if name not in self._parts)]

    def unknown(self, name: object, *others: str) -> UnknownName:
        """The error for a name that is neither here nor among the `others` that would do, too."""
        known = [*self.names(), *others]
        text = str(name)[:LONGEST_NAME]
        close = difflib.get_close_matches(text, known, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}? " if close else ""
        return UnknownName(f"unknown {self.kind} {text!r}: {hint}known are {', '.join(known)}")

    def _found(self) -> dict[str, Offer]:
        """What other packages offer, looked for once."""
        if self._offers is None:
            self._offers = {}
            for offer in offers_in(self.group, self.kind) if self.group else ():
                try:
                    self._refuse_name(offer.name, self._offers)
                except ConfigError as problem:
                    warn_of(offer.refusal(str(problem)))
                else:
                    self._offers[offer.name] = offer
        return self._offers

    def _take(self, name: str) -> T:
        """The part that a package offers, imported and checked once."""
        if name in self._parts:
            return self._parts[name]
        if name in self._refused:
            raise self._refused[name]
        offer = self._found()[name]
        try:
            self._parts[name] = self._admitted(offer)
        except ExtensionError as problem:
            self._refused[name] = problem
            warn_of(problem)
            raise
        return self._parts[name]

    def _admitted(self, offer: Offer) -> T:
        part = offer.load()
        if self._admit is None:
            raise offer.refusal(f"{self.kind}: none can be added from outside")
        try:
            return self._admit(offer.name, part)
        except ConfigError as problem:
            raise offer.refusal(str(problem)) from problem

    def _refuse_name(self, name: str, others: Mapping[str, Offer] | None = None) -> None:
        taken = self._found() if others is None else others
        if name in self._parts or name in taken:
            raise ConfigError(f"the name {name!r} is taken; choose another")
        if not self._pattern.fullmatch(name):
            raise ConfigError(f"{name!r} cannot be a name; use letters, digits, dots and hyphens")
