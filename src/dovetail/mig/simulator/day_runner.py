"""Whole days under a placement, with or without a mean-field controller, many in one call.

    with DayRunner(cluster, days, MigRules(), threads=2) as runner:
        scores = runner.play(PLACERS["categorical-edf"], field)       # [days, 3]
        fixed = runner.play(placer, None, configurations=(1, 1, 2, 2, 3, 3, 12, 12))

What candidates of a search are scored by: a day of 4,000 jobs takes about 10 ms, and only its
totals are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType
from typing import Any

import numpy as np

from dovetail.compiled.functions import kernel
from dovetail.domain.jobs import Floats, Ints
from dovetail.mig.gpus.cluster import MOST_SLICES, MigCluster
from dovetail.mig.mean_field import MeanField, steering
from dovetail.mig.metrics import MINUTE
from dovetail.mig.policy import Placer
from dovetail.mig.simulator import events
from dovetail.mig.simulator.engine import NEVER, steer
from dovetail.mig.simulator.tables import MigRules, MigWorlds, WorkloadTables
from dovetail.mig.workload.estimates import MigEstimates
from dovetail.mig.workload.jobs import MigWorkload


@steering
def _stay(p: Floats, seen: Floats, out: Floats) -> None:
    """Every GPU stays as it is."""
    for way in range(len(out)):
        out[way, way] = 50.0


STATIC = MeanField("static", _stay, every=NEVER, most_likely=1)
"""Nobody is ever asked."""


class DayRunner:
    """Days, each with a world of its own; the same seed gives the same scores for any threads."""

    def __init__(
        self,
        cluster: MigCluster,
        days: Sequence[MigWorkload],
        rules: MigRules,
        threads: int = 1,
        estimates: Sequence[MigEstimates] | None = None,
    ) -> None:
        self.cluster, self.count = cluster, len(days)
        self._worlds = MigWorlds(
            cluster, WorkloadTables(days, estimates), len(days), rules, MOST_SLICES
        )
        parts = min(threads, len(days))
        self._parts, self._threads = parts, ThreadPoolExecutor(parts) if parts > 1 else None

    def __enter__(self) -> DayRunner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._threads is not None:
            self._threads.shutdown()

    def play(
        self,
        placer: Placer,
        field: MeanField | None,
        configurations: Sequence[int] | None = None,
        chosen: Sequence[int] | None = None,
        seed: int = 0,
    ) -> Floats:
        """[days, 3] share of late jobs, mean tardiness (minutes), energy (W·min)."""
        self._load(configurations or self.cluster.configurations, seed)
        self._worlds.follow(placer)
        days = np.array(range(self.count) if chosen is None else chosen, np.int64)
        played = field or STATIC
        scores = np.zeros((len(days), 3))

        def part(bounds: tuple[int, int]) -> None:
            _play_days(
                self._worlds.world, days, scores, *bounds,
                placer.rank.pointer, placer.numbers(), *played.arguments(self.cluster),
            )  # fmt: skip

        if self._threads is None:
            part((0, len(days)))
        else:
            bounds = np.linspace(0, len(days), self._parts + 1).astype(int).tolist()
            list(self._threads.map(part, pairwise(bounds)))
        return scores

    def _load(self, configurations: Sequence[int], seed: int) -> None:
        worlds = self._worlds
        first = [worlds.cluster.kinds.index(kind) for kind in worlds.cluster.models]
        worlds.initial = worlds.kinds["first"][first] + np.array(configurations) - 1
        for i in range(self.count):
            worlds.load(i, i, seed * self.count + i)


@kernel
def _play_days(
    worlds: Any, days: Ints, scores: Floats, first: int, last: int, rank: Any, parameters: Floats,
    matrix: Any, weights: Floats, every: int, most_likely: int, ways: int, width: int,
) -> None:  # fmt: skip
    for i in range(first, last):
        w = worlds[days[i]]
        events.begin(w)
        steer(w, rank, parameters, matrix, weights, every, most_likely, ways, width)
        scores[i, 0] = (w.late + w.job_count - w.finished) / w.job_count
        scores[i, 1] = w.tardiness / MINUTE / max(1, w.finished)
        scores[i, 2] = events.joules(w) / MINUTE
