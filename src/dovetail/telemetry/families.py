"""What Prometheus is told of readings and idle GPUs; few series, whatever the number of jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from dovetail.telemetry.check import Checked, ReadingFault
from dovetail.telemetry.idle import IdleHolding


class ReadingTotals:
    """Counts over all readings since the start, for counters that only grow."""

    def __init__(self) -> None:
        self.good = 0
        self.faults: dict[tuple[ReadingFault, str], int] = {}
        self.unreadable: dict[str, int] = {}

    def add(self, checked: Checked) -> None:
        self.good += checked.good
        for key, number in checked.faults.items():
            self.faults[key] = self.faults.get(key, 0) + number
        for why, number in checked.readings.unreadable.items():
            self.unreadable[why] = self.unreadable.get(why, 0) + number


def telemetry_families(
    totals: ReadingTotals, gpus: int, idle: Sequence[IdleHolding]
) -> Iterator[Metric]:
    """All families; jobs are not labels, since each would be a series for ever."""
    yield _gauge("telemetry_gpus", "GPUs and MIG instances in the last reading.", gpus)
    yield CounterMetricFamily(
        "dovetail_telemetry_readings_good", "Readings that could be used.", value=totals.good
    )
    yield from _faults(totals)
    yield _gauge("idle_jobs", "Running jobs that hold idle GPUs.", len(idle))
    yield _gauge("idle_held_gpus", "GPUs that running jobs hold idle.", sum(h.idle for h in idle))
    yield _gauge(
        "idle_held_gpu_seconds", "GPU seconds that went by idle in jobs that run now.",
        3600.0 * sum(h.hours for h in idle),
    )  # fmt: skip


def _faults(totals: ReadingTotals) -> Iterator[Metric]:
    bad = CounterMetricFamily(
        "dovetail_telemetry_readings_bad", "Readings left out.", labels=("fault", "quantity")
    )
    for (fault, quantity), number in sorted(totals.faults.items(), key=str):
        bad.add_metric((fault.value, quantity), number)
    yield bad
    yield _counts("telemetry_unreadable", "What could not be read at all.", totals.unreadable)


def _counts(name: str, about: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(f"dovetail_{name}", about, labels=("what",))
    for what, number in sorted(counts.items()):
        family.add_metric((what,), number)
    return family


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"dovetail_{name}", about, value=value)
