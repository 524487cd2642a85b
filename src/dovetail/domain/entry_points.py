"""Parts that other installed packages offer, by Python's entry points; imported when needed."""

from __future__ import annotations

import re
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dovetail.domain.errors import ExtensionError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
"""What can be written on the command line: `+`, `@`, `:` and `,` have a meaning there."""


class ExtensionWarning(UserWarning):
    """A part of another package was left out; the text names the package."""


class Offer(NamedTuple):
    """One part that a package offers; nothing of the package is imported yet."""

    kind: str  # of part, in words
    name: str
    package: str  # with its version
    entry: EntryPoint

    def load(self) -> Any:
        """Import the part; whatever goes wrong in the package becomes one sentence."""
        try:
            return self.entry.load()
        except (Exception, SystemExit) as problem:
            raise self.refusal(f"{type(problem).__name__}: {problem}") from problem

    def refusal(self, problem: str) -> ExtensionError:
        """The error for a part that cannot be used."""
        return ExtensionError(
            f"{self.kind} {self.name!r} of the package {self.package} cannot be used: {problem}; "
            "update or uninstall that package"
        )


def offers_in(group: str, kind: str) -> list[Offer]:
    """What installed packages offer in a group, by package and name, whatever the path's order."""
    from importlib.metadata import entry_points  # 20 ms, spared where only our own parts are used

    found = [
        Offer(kind, entry.name, f"{entry.dist.name} {entry.dist.version}", entry)
        for entry in entry_points(group=group)
        if entry.dist is not None
    ]
    return sorted(found, key=lambda offer: (offer.package, offer.name))


def fault_of_package(problem: BaseException) -> str | None:
    """The package, file and line in which a foreign part failed; None: the fault is our own."""
    from importlib.metadata import distributions

    owners = {
        entry.module.partition(".")[0]: f"{package.name} {package.version}"
        for package in distributions()
        for entry in package.entry_points
        if entry.group.startswith("dovetail.")
    }
    for frame, line in reversed(list(traceback.walk_tb(problem.__traceback__))):
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package in owners and package != "dovetail":
            file = Path(frame.f_code.co_filename).name
            return f"the package {owners[package]} failed ({file} line {line})"
    return None


def warn_of(problem: ExtensionError) -> None:
    """Say that a part is left out; the rest goes on."""
    warnings.warn(str(problem), ExtensionWarning, stacklevel=3)
