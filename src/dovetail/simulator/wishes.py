"""Where jobs ask to run by name (partitions, reservations, nodes), settled before anything runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.domain.cluster import Cluster
from dovetail.domain.jobs import UNKNOWN, Jobs
from dovetail.domain.policy import Placement
from dovetail.simulator.layout import Demands, Kind, demands_of, kinds_of
from dovetail.simulator.node_lists import NodeLists, settle_lists
from dovetail.simulator.partition_access import with_default_limits
from dovetail.simulator.partition_lists import settle_partitions
from dovetail.simulator.reserved_nodes import ReservationSite, open_reservations


class Wishes(NamedTuple):
    """Jobs whose wishes the kinds of nodes can tell apart."""

    site: ReservationSite
    lists: NodeLists
    kinds: list[Kind]

    @property
    def jobs(self) -> Jobs:
        return self.lists.jobs

    def refused(self, demands: Demands) -> dict[str, dict[str, int]]:
        """Jobs that do not get what they ask for by name, as far as there are any."""
        site, lists = self.site, self.lists
        not_listed, not_reserved = lists.strange + demands.unlisted, demands.unreserved
        counts = {
            "node_lists": {"left_out": lists.left_out, "not_met": not_listed},
            "reservations": {
                "unknown": site.unknown, "left_out": site.left_out, "not_met": not_reserved,
                "not_let_in": site.not_let_in,
            },
            **features_unsaid(self.jobs, site.cluster),
        }  # fmt: skip
        return {what: found for what, found in counts.items() if any(found.values())}


def features_unsaid(jobs: Jobs, cluster: Cluster) -> dict[str, dict[str, int]]:
    """Nodes have features, and nobody asks for any: perhaps the trace does not tell."""
    silent = cluster.has_features and bool(np.all(jobs.constraint.codes == UNKNOWN))
    return {"features": {"none_asked": len(jobs)}} if silent else {}


def settle_wishes(jobs: Jobs, cluster: Cluster) -> Wishes:
    jobs = with_default_limits(jobs, cluster)
    site = open_reservations(settle_partitions(jobs, cluster), cluster)
    lists = settle_lists(site)
    return Wishes(site, lists, kinds_of(site.cluster, lists.nodes, site.names))


def count_wishes(jobs: Jobs, cluster: Cluster, placement: Placement) -> dict[str, dict[str, int]]:
    """How many jobs ask for nodes or reservations by name, and how many do not get them."""
    asked = {
        "node_lists": {
            "named": int((jobs.nodelist.codes != UNKNOWN).sum()),
            "excluded": int((jobs.exclude.codes != UNKNOWN).sum()),
        },
        "reservations": {"asked": int((jobs.reservation.codes != UNKNOWN).sum())},
    }
    asked = {what: found for what, found in asked.items() if any(found.values())}
    unsaid = features_unsaid(jobs, cluster)
    if not asked:
        return unsaid
    wishes = settle_wishes(jobs, cluster)
    demands = demands_of(wishes.jobs, wishes.site.cluster, wishes.kinds, placement)
    refused = wishes.refused(demands)
    return {what: {**found, **refused.get(what, {})} for what, found in asked.items()} | unsaid
