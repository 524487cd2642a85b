"""A learned placement or control on days it was not trained on, and whom it is compared with.

learned = LearnedContender.load("dovetail", "1xa30-24:1")   # the shipped one, or a folder
others = rivals(learned, ["eft", "categorical-edf"], learned.weight)
days = learned.source.days(EvaluationDays(0, 10))
found = compare_mig(days, [learned.contender(), *others])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail.domain.errors import ConfigError
from dovetail.mig.evaluation.contenders import NONE, Contender, placer_behind
from dovetail.mig.evaluation.static_search import best_configurations, by_weighted
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER, MigCluster
from dovetail.mig.metrics import ENERGY_WEIGHT
from dovetail.mig.policies.learned.control import CONTROL_MODELS
from dovetail.mig.policies.learned.placement import PLACER_MODELS, SHIPPED, SHIPPED_NAME
from dovetail.mig.workload.estimates import EXACT
from dovetail.mig.workload.seeds import SearchDays
from dovetail.mig.workload.source import MigSource
from dovetail.policies.learned.checkpoint import load_checkpoint

SEARCH_DAYS = 10
"""With four, the cut that was found did worse on other days than the one it began from."""

STATIC = "categorical-edf"
"""The placement of the best static cut: the best of the heuristics where GPUs stay as they are."""


@dataclass(frozen=True, slots=True)
class LearnedContender:
    """A checkpoint, and what it was trained on."""

    name: str  # a folder, or that of the shipped placement
    cuts: bool  # it is a control, which may cut GPUs anew
    cluster: str
    source: MigSource
    weight: float

    @classmethod
    def load(cls, name: str, cluster: str | None = None) -> LearnedContender:
        """A checkpoint's folder, or the shipped one; on the cluster of its training or another."""
        folder = SHIPPED if name == SHIPPED_NAME else Path(name)
        found = load_checkpoint(folder, {**PLACER_MODELS, **CONTROL_MODELS})
        try:
            return cls._of(name, found.kind in CONTROL_MODELS, found.card, cluster)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as problem:
            raise ConfigError(
                f"{name}: the card of the checkpoint does not say how it was trained "
                f"({problem!r}); train it again"
            ) from problem

    @classmethod
    def _of(
        cls, name: str, cuts: bool, card: Mapping[str, Any], cluster: str | None
    ) -> LearnedContender:
        config = card["config"].get("on", card["config"])  # PPO has settings of its own above
        spec = cluster or (config["cluster"] if cuts else config["clusters"][0])
        if not isinstance(spec, str):
            raise TypeError(f"cluster is {spec!r:.60}")
        rate = float(config["rate"])
        if not cuts:
            # A placement is trained at the rate of 8 GPUs, in proportion to the cluster.
            rate *= MigCluster.open(spec).compute / MIG_DAY_CLUSTER.compute
        low, high = config["slack"]
        source = MigSource(slack=(low, high), rate=rate, hours=float(config["hours"]))
        weight = float(card.get("energy_weight", ENERGY_WEIGHT))
        if not 0 < weight < math.inf:
            raise ValueError(f"energy_weight is {weight}")
        return cls(name, cuts, spec, source, weight)

    def contender(self) -> Contender:
        return Contender(self.name, self.cluster, self.name if self.cuts else NONE)


def rivals(
    learned: LearnedContender,
    placers: Sequence[str],
    weight: float,
    progress: Callable[[int], None] = lambda tried: None,
    estimates: str = EXACT,
) -> list[Contender]:
    """Heuristics on the same cluster, and the best of them on GPUs that are cut as suits it best.

    The cut is searched on days of its own, from the learned one's cluster on.
    """
    found = best_configurations(
        learned.source.days(SearchDays(SEARCH_DAYS)),
        MigCluster.open(learned.cluster),
        placer_behind(STATIC),
        by_weighted(weight),
        progress,
        estimates,
    )
    return [
        *(Contender(placer, learned.cluster) for placer in placers),
        Contender(STATIC, found.cluster.text),
    ]
