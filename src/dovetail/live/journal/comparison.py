"""A recorded schedule in the place of a comparison, so that tables and reports show it as any."""

from __future__ import annotations

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.metrics import summary
from dovetail.domain.policy import Backfill, Ordering, Placement
from dovetail.domain.schedule import Schedule
from dovetail.evaluation.bounds.bound import lower_bounds
from dovetail.evaluation.comparison import Comparison, ComparisonRow
from dovetail.live.journal.replay import RECORDED
from dovetail.policies.policy import Policy
from dovetail.traces.description import describe


class RecordedPolicy(Policy):
    """Whatever ruled the real cluster: it has a name and nothing that could be run."""

    def __post_init__(self) -> None:
        """No name to look up."""

    def parts(self) -> tuple[Ordering, Placement, Backfill]:
        raise ConfigError("what was recorded cannot be run again; name a policy")

    def label(self, backfill: str | None = None, placement: str | None = None) -> str:
        return self.order


def recorded_row(schedule: Schedule) -> ComparisonRow:
    """The recorded schedule as a row beside simulated ones."""
    figures = {key: float(v) for key, v in summary(schedule).items() if key != "config"}
    return ComparisonRow(
        label=RECORDED,
        policy=RecordedPolicy(RECORDED, RECORDED, RECORDED),
        metrics=figures,
        per_window={key: (value,) for key, value in figures.items()},
        wait_percentiles=tuple(np.percentile(schedule.wait, np.arange(101)).tolist()),
    )


def recorded_comparison(schedule: Schedule) -> Comparison:
    """One row, and the bound below it."""
    cluster, config = schedule.cluster, schedule.config
    return Comparison(
        rows=(recorded_row(schedule),),
        bound=lower_bounds(schedule.trace, cluster),
        config={
            **config,
            "seed": "none: nothing was drawn",
            "own_estimates": {},
            "policies": [RECORDED],
            "sequences": None,
            "length": None,
            "window_starts": None,
            "cluster_nodes": len(cluster.nodes),
            "cluster_gpus": cluster.total_gpus,
        },
        trace_facts=describe(schedule.trace),
    )
