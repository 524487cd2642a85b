"""What Prometheus is told: pure functions from the last report and the totals to families."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

import dovetail
from dovetail.live.cycle.report import CycleReport, Load
from dovetail.live.model.mode import Mode
from dovetail.live.service.metrics.names import bounded_counts, bounded_loads, label
from dovetail.live.service.metrics.totals import BUCKETS, Histogram, Totals


def families(totals: Totals, last: CycleReport | None, age: float) -> Iterator[Metric]:
    """Everything; before the first cycle only what is known then."""
    yield _gauge("build_info", "Version of Dovetail.", _build().items(), ("version", "python"))
    yield _single("snapshot_age_seconds", "Since the last good snapshot; NaN: none yet.", age)
    yield from _totals(totals)
    if last is not None:
        yield from _last(last)


def _build() -> dict[tuple[str, ...], float]:
    return {(dovetail.__version__, platform.python_version()): 1.0}


def _totals(totals: Totals) -> Iterator[Metric]:
    yield _counter("cycles", "Cycles since the start.", (((), totals.cycles),))
    yield _counter("changes_sent", "Changes sent to Slurm, failed included.", (((), totals.sent),))
    yield _counter("changes_failed", "Changes that Slurm refused.", (((), totals.failed),))
    yield _counter(
        "fallbacks", "Times that active mode was left, not by an operator.",
        (((), totals.fallbacks),),
    )  # fmt: skip
    yield _counter(
        "verdicts", "What guardrails said.", totals.verdicts.items(), ("guardrail", "outcome")
    )
    seconds = HistogramMetricFamily(
        "dovetail_cycle_seconds", "Time that the parts of a cycle took.", labels=("part",)
    )
    for part, histogram in totals.seconds.items():
        seconds.add_metric((part,), _buckets(histogram), histogram.sum)
    yield seconds


def _last(last: CycleReport) -> Iterator[Metric]:
    modes = {(mode.value,): float(mode is last.mode) for mode in Mode}
    yield _gauge("mode", "1 for the mode that the daemon is in.", modes.items(), ("mode",))
    yield _single("jobs_managed", "Pending jobs that Dovetail orders.", last.managed)
    untouched = {(name,): count for name, count in bounded_counts(last.untouched).items()}
    yield _gauge("jobs_untouched", "Pending jobs left alone.", untouched.items(), ("reason",))
    wishes = {(name,): count for name, count in last.unexpressed.items()}
    yield _gauge(
        "jobs_unexpressed", "Jobs that fit, which the policy would not start, and Slurm may.",
        wishes.items(), ("wish",),
    )  # fmt: skip
    yield _single(
        "budget_spent_ratio", "Part of the changes that may be sent in an hour.",
        last.budget_spent,
    )  # fmt: skip
    yield _single("trouble", "1: something needs attention, see the log.", bool(last.trouble))
    yield _single("moved_places_mean", "Between our order and Slurm's own.", last.moved.mean)
    yield _single("moved_places_max", "Between our order and Slurm's own.", last.moved.most)
    yield _single(
        "twin_difference_ratio", "Mean wait here against Slurm alone, -0.1: a tenth shorter.",
        last.twin_difference,
    )  # fmt: skip
    yield _single("twin_error_ratio", "Mean wait in the twin against reality.", last.twin_error)
    yield _single(
        "model_drift", "Jobs of late against those the model was trained on, above 0.25: drifted.",
        last.model_drift,
    )  # fmt: skip
    yield from _partitions(bounded_loads(last.partitions))


def _partitions(loads: Mapping[str, Load]) -> Iterator[Metric]:
    for state in ("pending", "running"):
        for unit in ("jobs", "gpus"):
            values = {(name,): getattr(load, f"{state}_{unit}") for name, load in loads.items()}
            what = "Jobs" if unit == "jobs" else "GPUs of jobs"
            yield _gauge(f"{state}_{unit}", f"{what} {state}.", values.items(), ("partition",))
    waits = {
        (name, quantile): seconds
        for name, load in loads.items()
        for quantile, seconds in (("0.5", load.wait_p50), ("0.95", load.wait_p95))
        if not math.isnan(seconds)
    }
    # Not `quantile`, which Prometheus keeps for summaries.
    yield _gauge(
        "wait_seconds", "Waits of jobs started of late.", waits.items(), ("partition", "level")
    )


def _single(name: str, help_text: str, value: float) -> Metric:
    return _gauge(name, help_text, (((), value),))


def _gauge(
    name: str,
    help_text: str,
    samples: Iterable[tuple[tuple[str, ...], float]],
    labels: Iterable[str] = (),
) -> Metric:
    family = GaugeMetricFamily(f"dovetail_{name}", help_text, labels=tuple(labels))
    for key, value in samples:
        family.add_metric(key, value)
    return family


def _counter(
    name: str,
    help_text: str,
    samples: Iterable[tuple[tuple[str, ...], float]],
    labels: Iterable[str] = (),
) -> Metric:
    family = CounterMetricFamily(f"dovetail_{name}", help_text, labels=tuple(labels))
    for key, value in samples:
        family.add_metric(tuple(map(label, key)), value)
    return family


def _buckets(histogram: Histogram) -> list[tuple[str, float]]:
    """Cumulative, as Prometheus wants them."""
    edges = ("+Inf" if math.isinf(edge) else f"{edge:g}" for edge in BUCKETS)
    return list(zip(edges, map(float, accumulate(histogram.counts)), strict=True))
