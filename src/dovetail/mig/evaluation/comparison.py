"""Placements, configurations and repartitioners side by side, each on the same days.

days = [mig_day(seed) for seed in range(10)]
contenders = cross(["eft", "categorical-edf"], ["8xa100-40:1,1,2,2,3,3,12,12"])
found = compare_mig(days, contenders)
found.rows[0].mean["late_share"], found.rows[0].std["late_share"]
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.provenance import version
from dovetail.evaluation.statistics import Interval, ratio_of_means
from dovetail.mig.evaluation.bounds import mig_bounds
from dovetail.mig.evaluation.contenders import Contender, labels
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.metrics import (
    ENERGY_WEIGHT,
    KWH,
    MINUTE,
    energy_tardiness,
    summary,
)
from dovetail.mig.workload.estimates import EXACT
from dovetail.mig.workload.jobs import MigWorkload

Progress = Callable[[int, int, str], None]
"""Runs done, runs in all, the contender that was just run."""

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class MigRow:
    """What one contender achieved: over days, and on each of them."""

    label: str
    contender: Contender
    mean: Figures
    std: Figures  # over days, as of a sample; 0 where there is one day only
    per_day: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class MigBound:
    """What nobody can beat with these GPUs, however they are cut: means over the days."""

    gpus: str
    mean: Figures


@dataclass(frozen=True, slots=True)
class MigComparison:
    """Rows in the order asked for. `complete` is False when Ctrl-C came before the end."""

    rows: tuple[MigRow, ...]
    bounds: tuple[MigBound, ...]  # one for each set of GPUs
    config: Mapping[str, Any]
    complete: bool = True

    def best(self, metric: str = "energy_tardiness") -> MigRow:
        """The row with the lowest mean."""
        if metric not in self.rows[0].mean:
            raise ConfigError(f"no metric {metric!r}; known are {', '.join(self.rows[0].mean)}")
        return min(self.rows, key=lambda row: row.mean[metric])

    def bound_of(self, row: MigRow) -> Figures:
        """The bounds for the GPUs of a row."""
        return next(bound.mean for bound in self.bounds if bound.gpus == row.contender.gpus)

    def to_json(self) -> str:
        """Stable text: sorted keys; only sim_seconds varies."""
        return json.dumps(asdict(self), sort_keys=True, indent=2, allow_nan=False) + "\n"


def compare_mig(
    days: Sequence[MigWorkload],
    contenders: Sequence[Contender],
    seed: int = 0,
    weight: float = ENERGY_WEIGHT,
    progress: Progress | None = None,
    estimates: str = EXACT,
) -> MigComparison:
    """Run every contender on every day; lots and the noise of estimates go by the day.

    Ctrl-C keeps the days that all contenders have finished, or if there is none the contenders
    that have finished the first.
    """
    chosen = tuple(dict.fromkeys(contenders))
    if not days or not chosen:
        raise ConfigError("nothing to compare; give one day and one placement at least")
    names = labels(chosen)
    parts = [contender.parts() for contender in chosen]  # a bad name should not cost a run
    found: list[list[dict[str, Any]]] = [[] for _ in days]
    total = len(days) * len(chosen)
    try:
        for number, day in enumerate(days):
            for place, part in enumerate(parts):
                found[number].append(
                    summary(part.run(day, seed + number, estimates=estimates), weight)
                )
                if progress is not None:
                    progress(number * len(chosen) + place + 1, total, names[place])
    except KeyboardInterrupt:
        if not found[0]:
            raise
    kept = [done for done in found if len(done) == len(chosen)] or found[:1]
    return MigComparison(
        rows=tuple(
            _row(names[place], chosen[place], [day[place] for day in kept])
            for place in range(len(kept[0]))
        ),
        bounds=_bounds(days[: len(kept)], chosen, weight),
        config={
            "version": version(),
            "seed": seed,
            "estimates": estimates,
            "energy_weight": weight,
            "workload": days[0].trace.name,
            "notes": list(days[0].trace.notes),
            "days": len(days),
            "days_kept": len(kept),
            "jobs": [len(day) for day in days[: len(kept)]],
            "digests": [day.trace.digest() for day in days[: len(kept)]],
        },
        complete=sum(map(len, found)) == total,
    )


def paired(row: MigRow, other: MigRow, metric: str = "energy_tardiness") -> Interval:
    """This row's mean as a share of the other's, over the same days."""
    return ratio_of_means(row.per_day[metric], other.per_day[metric])


def _row(label: str, contender: Contender, results: Sequence[Mapping[str, Any]]) -> MigRow:
    keys = [key for key in results[0] if key not in ("config", "energy_weight")]
    per_day = {key: tuple(float(result[key]) for result in results) for key in keys}
    return MigRow(
        label=label,
        contender=contender,
        mean={key: math.fsum(values) / len(values) for key, values in per_day.items()},
        std={
            key: float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
            for key, values in per_day.items()
        },
        per_day=per_day,
    )


def _bounds(
    days: Sequence[MigWorkload], contenders: Sequence[Contender], weight: float
) -> tuple[MigBound, ...]:
    """Bounds hold however GPUs are cut: one for each set of GPUs that occurs."""
    sets: dict[str, MigCluster] = {}
    for contender in contenders:
        sets.setdefault(contender.gpus, MigCluster.open(contender.cluster))
    found = []
    for name, cluster in sets.items():
        each = [mig_bounds(day, cluster) for day in days]
        joules = math.fsum(bound.energy_joules for bound in each) / len(each)
        tardiness = math.fsum(bound.tardiness_mean for bound in each) / len(each)
        found.append(MigBound(name, bound_figures(joules, tardiness, weight)))
    return tuple(found)


def bound_figures(joules: float, tardiness: float, weight: float = ENERGY_WEIGHT) -> Figures:
    """Bounds under the keys of `summary`."""
    return {
        "tardiness_mean": tardiness,
        "energy_joules": joules,
        "energy_kwh": joules / KWH,
        "energy_watt_minutes": joules / MINUTE,
        "energy_tardiness": energy_tardiness(tardiness, joules / MINUTE, weight),
    }
