"""How a Slurm makes priorities, beside its jobs and nodes: what the twin replays it by.

>>> from dovetail.domain.cluster import Cluster
>>> site = SiteSettings({"PriorityWeightFairShare": "7", "PriorityCalcPeriod": "00:05:00"})
>>> dict(site.added_to(Cluster.parse("1x8")).slurm)
{'PriorityCalcPeriod': '5', 'PriorityWeightFairshare': '7'}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dovetail.domain.associations import Association
from dovetail.domain.cluster import SETTINGS, Cluster
from dovetail.slurm.durations import seconds_of
from dovetail.slurm.words import text_of

Billing = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """All of it may be missing: then jobs share alike, and QOS and partitions count nothing."""

    settings: Mapping[str, str] = field(default_factory=dict)  # by `scontrol show config`
    associations: tuple[Association, ...] = ()  # the tree of accounts and users
    qos: Mapping[str, float] = field(default_factory=dict)  # name -> priority
    billing: Mapping[str, Billing] = field(default_factory=dict)  # of partitions

    def added_to(self, cluster: Cluster) -> Cluster:
        """The cluster with what a replay of Slurm's own order needs."""
        return replace(
            cluster,
            partitions=tuple(
                replace(part, billing=self.billing.get(part.name, ()))
                for part in cluster.partitions
            ),
            qos={**cluster.qos, **self.qos},
            slurm=as_configured(self.settings),
            associations=self.associations,
        )


def as_configured(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings as slurm.conf words them: `scontrol show config` has other cases and units."""
    told = {name.lower(): text_of(value) for name, value in settings.items()}
    found = {name: told[name.lower()] for name in SETTINGS if told.get(name.lower())}
    minutes = seconds_of(found.pop("PriorityCalcPeriod", "")) / 60.0
    if math.isfinite(minutes) and minutes >= 1.0:
        found["PriorityCalcPeriod"] = f"{minutes:.0f}"
    return {name: found[name] for name in SETTINGS if name in found}
