"""What every source of readings offers, and what goes wrong with one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from dovetail.domain.errors import DovetailError
from dovetail.telemetry.readings import GpuName, Readings


class SourceError(DovetailError):
    """A source that cannot be read; the message says what to do."""


class Source(Protocol):
    """One way to readings; each call of `read` is one moment of all GPUs."""

    def read(self) -> Readings: ...


@runtime_checkable
class Replays(Protocol):
    """A source that holds many moments."""

    def replay(self) -> Iterator[Readings]: ...


@runtime_checkable
class RemembersBusy(Protocol):
    """A source that also knows the past."""

    def last_busy(self, above: float, hours: float) -> dict[GpuName, float]:
        """When each GPU was last used more than `above`, or when it was first seen if never."""
        ...
