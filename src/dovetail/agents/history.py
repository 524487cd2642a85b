"""A trace divided by time: to learn from, to choose the best network by, to stay unseen."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.trace import Trace

UNSEEN = 0.1
"""Share of the trace, at its end, that training never sees."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The first eight ninths of the known jobs, and the last ninth."""

    learning: Trace
    validation: Trace

    @property
    def known(self) -> int:
        return len(self.learning) + len(self.validation)


def divide(trace: Trace, length: int) -> Parts:
    """The known part of a trace; it must hold an episode of `length` jobs."""
    known = len(trace) - round(UNSEEN * len(trace))
    cut = known - known // 9
    if cut < length or cut == known:
        raise ConfigError(
            f"{trace.name}: {cut:,} jobs to learn from, fewer than an episode of {length:,}; "
            "use a longer history, or a smaller --length"
        )
    return Parts(trace.slice(0, cut), trace.slice(cut, known))


def facts(agent: str, config: Any, trace: Trace, cluster: Cluster, known: int) -> dict[str, Any]:
    """What a checkpoint's card says of its origin, and what a training that goes on must share."""
    return {
        "agent": agent,
        "config": asdict(config),
        "trace": trace.name,
        "trace_digest": trace.digest(),
        "cluster": cluster.name,
        "cluster_digest": cluster.digest(),
        "jobs_known": known,
    }
