"""What the daemon needs of a cluster: read all of it, and change some jobs.

>>> from dovetail.live.backends.recorded import MemoryCluster, RecordedBackend
>>> backend: Backend = RecordedBackend(MemoryCluster.of_nodes(2, gpus=4))
>>> len(backend.read().nodes), backend.apply([]), backend.factors()
(2, [], {})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from dovetail.domain.errors import DovetailError
from dovetail.live.model.decision import Change, Result
from dovetail.live.model.site import SiteSettings
from dovetail.live.model.snapshot import Factor, Snapshot


class BackendError(DovetailError):
    """Slurm did not answer, or not in a way that can be trusted."""


class Unreachable(BackendError):  # noqa: N818 - reads as what happened
    """No answer in time, or the controller is down."""


class Unreadable(BackendError):  # noqa: N818 - reads as what happened
    """An answer of a shape that is not known."""


class Backend(Protocol):
    """A live cluster. Every method may raise BackendError, and then nothing is known."""

    name: str

    def read(self) -> Snapshot:
        """Everything, in as few questions as possible."""
        ...

    def apply(self, changes: Sequence[Change]) -> list[Result]:
        """Carry changes out, in order; one result for each, failed ones with Slurm's words."""
        ...

    def factors(self) -> Mapping[int, Factor]:
        """How the priorities of pending jobs are made up, by LiveJob.id."""
        ...

    def settings(self) -> Mapping[str, str]:
        """Slurm's configuration, as `scontrol show config` words it."""
        ...

    def site(self) -> SiteSettings:
        """How Slurm makes priorities: its settings, accounts, QOS, and what partitions bill."""
        ...
