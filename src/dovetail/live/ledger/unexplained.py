"""Values on waiting jobs that no journal explains: Dovetail's by their pattern, or somebody's.

>>> from dovetail.live.backends.recorded import MemoryCluster
>>> cluster = MemoryCluster.of_nodes(1, gpus=4)
>>> for value in (1787, 500):
...     cluster.set_site(cluster.submit(), value)
>>> found = unexplained(cluster.snapshot(), begins=0.0)
>>> found.ours, found.operators
((1,), (2,))

For a journal that was lost: what it would have known is looked for in Slurm itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from dovetail.live.ledger.entry import LedgerEntry
from dovetail.live.model.decision import Knob
from dovetail.live.model.mark import is_marked
from dovetail.live.model.snapshot import LiveJob, Snapshot

Noted = Callable[[LiveJob, int], bool]
"""Whether a factor of a job was written down as ours although it carries no mark."""


class Unexplained(NamedTuple):
    """Waiting jobs by who may have set them; numbers as in LiveJob.id."""

    ours: tuple[int, ...] = ()  # site factors that follow our pattern, or were written down
    unknown: tuple[int, ...] = ()  # do not, but are of jobs older than the journal
    operators: tuple[int, ...] = ()  # set while the journal was kept, and not by us
    frozen: tuple[int, ...] = ()  # priorities set by hand
    hidden: tuple[int, ...] = ()  # held or not yet eligible: Slurm does not tell their factor

    @property
    def suspicious(self) -> bool:
        """Whether something of ours may still stand."""
        return bool(self.ours or self.unknown)

    def __str__(self) -> str:
        parts = (
            (self.ours, "with a site factor that follows Dovetail's pattern, in no journal"),
            (self.unknown, "with a site factor that nobody can explain: older than the journal"),
            (self.operators, "with a site factor that an operator set"),
            (self.frozen, "with a priority set by hand"),
        )
        said = [f"{len(jobs):,} {what}" for jobs, what in parts if jobs]
        return "; ".join(said) if said else "no waiting job has a value of somebody's"


def unexplained(
    snapshot: Snapshot, begins: float, noted: Noted = lambda job, factor: False
) -> Unexplained:
    """What stands on waiting jobs once everything that the journal knows has been put back.

    begins: since when the journal has been kept; infinity: there is none.
    """
    found: dict[str, list[int]] = {name: [] for name in Unexplained._fields}
    for job in snapshot.pending:
        factor = snapshot.factors.get(job.id)
        if factor is None:
            found["hidden"].append(job.id)
        elif factor.frozen:
            found["frozen"].append(job.id)
        elif is_marked(factor.site) or noted(job, factor.site):
            found["ours"].append(job.id)
        elif factor.site and (math.isnan(job.submit) or job.submit < begins):
            found["unknown"].append(job.id)
        elif factor.site:
            found["operators"].append(job.id)
    return Unexplained(**{name: tuple(jobs) for name, jobs in found.items()})


def entries_of(found: Unexplained) -> tuple[LedgerEntry, ...]:
    """As if the journal knew them: exactly those that are ours."""
    return tuple(LedgerEntry(job, Knob.SITE_FACTOR, 0) for job in found.ours)
