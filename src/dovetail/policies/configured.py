"""What a cluster's own slurm.conf makes of the queue: its priorities, and what may pass.

>>> from dovetail.domain.cluster import Cluster, Node
>>> settings = {"SchedulerParameters": "bf_interval=60", "PriorityType": "priority/multifactor"}
>>> configured_policy(Cluster((Node("a", 8),), slurm=settings)).label()
'slurm-as-configured+slurm:interval=60@best-fit'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dovetail.domain.cluster import Cluster
from dovetail.domain.policy import Backfill, BackfillRule, Ordering, SlurmBackfill, Varies
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.ordering.as_configured import AS_CONFIGURED, SlurmSettings, as_configured
from dovetail.policies.policy import Policy


def configured_policy(cluster: Cluster) -> Policy | None:
    """None where nothing is known of how Slurm is configured."""
    if not cluster.slurm:
        return None
    order, rule = _ordering(cluster.slurm), _backfill(cluster.slurm)
    return Policy(AS_CONFIGURED, rule.value, ordering=replace(order, name=AS_CONFIGURED), rule=rule)


def _ordering(settings: Mapping[str, str]) -> Ordering:
    if settings.get("PriorityType", "priority/multifactor") != "priority/multifactor":
        return ORDERINGS["fcfs"]
    by_time = "SMALL_RELATIVE_TO_TIME" in settings.get("PriorityFlags", "").upper()
    return as_configured(
        SlurmSettings.of(settings),
        # Jobs that ask for the same of other lengths then have other points.
        Varies.ALWAYS if by_time else Varies.BETWEEN_ACCOUNTS,
    )


def _backfill(settings: Mapping[str, str]) -> BackfillRule:
    if settings.get("SchedulerType", "sched/backfill") == "sched/builtin":
        return Backfill.NONE
    return SlurmBackfill.of_slurm(settings.get("SchedulerParameters", ""))
