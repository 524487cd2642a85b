"""A trace divided by time: to learn from, to choose the best network by, to judge it, unseen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats
from dovetail.domain.provenance import inputs_of
from dovetail.domain.trace import Trace
from dovetail.telemetry.drift import DriftReference, workload_columns

UNSEEN = 0.1
"""Share of the trace, at its end, that training never sees."""


class Site(NamedTuple):
    """A history and the cluster that it is replayed on."""

    trace: Trace
    cluster: Cluster


JUDGING = 2
"""Ninths of the known jobs, the last ones, that judge what was learned. No learner sees them."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Six ninths of the known jobs to learn from, one to choose the best by, two to judge it by."""

    learning: Trace
    validation: Trace
    judging: Trace

    @property
    def known(self) -> int:
        return len(self.learning) + len(self.validation) + len(self.judging)


def known_jobs(trace: Trace) -> int:
    """How many jobs at its beginning training may look at."""
    return len(trace) - round(UNSEEN * len(trace))


def divide(trace: Trace, length: int) -> Parts:
    """The known part of a trace; it must hold an episode of `length` jobs."""
    known = known_jobs(trace)
    ninth = known // 9
    held = known - JUDGING * ninth
    cut = held - ninth
    if cut < length or cut == held:
        raise ConfigError(
            f"{trace.name}: {cut:,} jobs to learn from, fewer than an episode of {length:,}; "
            "use a longer history, or a smaller --length"
        )
    return Parts(trace.slice(0, cut), trace.slice(cut, held), trace.slice(held, known))


def facts(agent: str, config: Any, sites: Sequence[Site]) -> dict[str, Any]:
    """What a checkpoint's card says of its origin, and what a training that goes on must share."""
    return {
        "agent": agent,
        "config": asdict(config),
        "sites": [
            {
                **inputs_of(site.trace, site.cluster),
                "jobs_known": known_jobs(site.trace),
            }
            for site in sites
        ],
        "trained_on": DriftReference.of(_columns(sites)).to_dict(),
    }


def _columns(sites: Sequence[Site]) -> dict[str, Floats]:
    """What the known jobs of all sites are like, to be compared with later ones."""
    parts = [
        workload_columns(site.trace.jobs.take(slice(known_jobs(site.trace)))) for site in sites
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def refuse_other(folder: Path, found: dict[str, Any], mine: dict[str, Any]) -> None:
    """A folder with a training of another configuration, trace or cluster is not gone on with."""
    if found != json.loads(json.dumps(mine)):
        raise ConfigError(f"{folder} holds a training with other settings; choose another --out")
