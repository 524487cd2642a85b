"""One run: a trace on a cluster under a policy that is given by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.policies.policy import Policy
from dovetail.prediction import HISTORY
from dovetail.simulator import simulate


def run(
    trace: Trace,
    cluster: Cluster,
    policy: Policy,
    estimates: Estimates,
    progress: Callable[[float], None] | None = None,
    checked: bool = False,
) -> Schedule:
    """Replay the trace; `progress` gets the share of jobs submitted so far."""
    order, place, fill = policy.parts()
    schedule = simulate(trace, cluster, order, place, fill, estimates, HISTORY, progress, checked)
    return replace(schedule, config={**schedule.config, "version": version()})


def version() -> str:
    """Of Dovetail; looked up late, since the package itself names `api`, a layer above this one."""
    return str(import_module("dovetail").__version__)
