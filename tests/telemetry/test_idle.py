"""Which jobs hold idle GPUs: never a job too many, and since when it is sure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.domain.errors import ConfigError
from dovetail.telemetry import Holding, IdleRule, IdleWatch, Monitor, Readings, SourceError
from dovetail.telemetry.quantities import COLUMN
from dovetail.telemetry.readings import GpuLabels, GpuName

RULE = IdleRule(below=0.05, after=600.0, forget=900.0)


def moment(time: float, used: Sequence[float], host: str = "n1", job: str = "") -> Readings:
    values = np.full((len(used), len(COLUMN)), np.nan)
    values[:, COLUMN["utilisation"]] = used
    gpus = tuple(GpuName(host, str(i)) for i in range(len(used)))
    return Readings(time, gpus, (GpuLabels(job=job),) * len(used), values, np.full(len(used), time))


def watching(*moments: Readings) -> IdleWatch:
    watch = IdleWatch(RULE)
    for readings in moments:
        watch.observe(readings)
    return watch


def hold(job: str, gpus: int, *indices: str, start: float = 0.0, host: str = "n1") -> Holding:
    return Holding(job, "ada", host, gpus, start, indices)


def test_a_job_that_lets_its_gpus_rest_is_found_with_its_cost() -> None:
    watch = watching(moment(0, [0.9, 0.0]), moment(300, [0.9, 0.0]), moment(3600, [0.9, 0.0]))
    (found,) = watch.holdings([hold("17", 2, "0", "1")], 3600.0)
    assert (found.job, found.idle, found.held, found.since) == ("17", 1, 2, 0.0)
    assert found.hours == pytest.approx(1.0)
    assert (
        found.sentence(3600.0)
        == "job 17 of ada: 1 of 2 GPUs idle for 1 h 0 min on n1, 1.0 GPU hours"
    )


def test_before_it_started_a_job_held_nothing() -> None:
    watch = watching(moment(0, [0.0]), moment(800, [0.0]))
    assert watch.holdings([hold("17", 1, "0", start=700.0)], 800.0) == ()
    watch.observe(moment(1400, [0.0]))
    assert watch.holdings([hold("17", 1, "0", start=700.0)], 1400.0)[0].since == 700.0


def test_one_busy_reading_begins_anew() -> None:
    watch = watching(moment(0, [0.0]), moment(500, [0.5]), moment(1000, [0.0]))
    assert watch.holdings([hold("17", 1, "0")], 1000.0) == ()


def test_an_unknown_reading_changes_nothing_but_not_for_ever() -> None:
    watch = watching(moment(0, [0.0]), moment(600, [math.nan]), moment(700, [0.0]))
    assert watch.holdings([hold("17", 1, "0")], 700.0)[0].since == 0.0
    watch = watching(moment(0, [0.0]), moment(1000, [math.nan]))
    assert watch.holdings([hold("17", 1, "0")], 1000.0) == ()


def test_memory_at_work_is_not_idle() -> None:
    readings = moment(0, [0.0, 0.0])
    readings.values[0, COLUMN["dram_active"]] = 0.3
    assert list(watching(readings).idle_since(0.0)) == [GpuName("n1", "1")]


def test_gpus_that_nobody_holds_are_no_jobs_fault() -> None:
    """Four GPUs, two of them held by one job, three idle: at least one idle GPU is the job's."""
    watch = watching(moment(0, [0.0, 0.9, 0.0, 0.0]), moment(700, [0.0, 0.9, 0.0, 0.0]))
    (found,) = watch.holdings([hold("17", 2)], 700.0)
    assert found.idle == 1
    busy_enough = watching(moment(0, [0.9, 0.9, 0.0, 0.0]), moment(700, [0.9, 0.9, 0.0, 0.0]))
    assert busy_enough.holdings([hold("17", 2)], 700.0) == ()


def test_on_a_shared_node_without_numbers_it_is_said_that_it_is_not_known_who() -> None:
    watch = watching(moment(0, [0.0, 0.9, 0.0]), moment(700, [0.0, 0.9, 0.0]))
    (found,) = watch.holdings([hold("17", 1), hold("18", 1)], 700.0)
    assert (found.idle, found.among) == (1, ("17", "18"))
    assert found.sentence(700.0).startswith("one of the jobs 17, 18: 1 of 2 GPUs")


def test_hosts_meet_whether_or_not_they_have_a_domain() -> None:
    watch = watching(moment(0, [0.0], "n1.x.org"), moment(700, [0.0], "n1.x.org"))
    assert len(watch.holdings([hold("17", 1, "0")], 700.0)) == 1


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=1, max_size=12),
    st.integers(0, 4),
)
def test_never_more_idle_gpus_than_truly_are(levels: list[list[float]], held: int) -> None:
    """Against the plain definition: trailing readings below the threshold, for each GPU."""
    watch = watching(*(moment(120.0 * i, row) for i, row in enumerate(levels)))
    now = 120.0 * (len(levels) - 1)
    truly = 0
    for gpu in range(4):
        run = 0
        while run < len(levels) and levels[-1 - run][gpu] < RULE.below:
            run += 1
        truly += run > 0 and 120.0 * (run - 1) >= RULE.after
    named = watch.holdings([hold("17", 4, "0", "1", "2", "3")], now)
    assert sum(each.idle for each in named) == truly
    counted = watch.holdings([hold("17", held)] if held else [], now)
    assert sum(each.idle for each in counted) <= min(truly, held)


class Failing:
    def __init__(self, *moments: Readings) -> None:
        self.moments = list(moments)

    def read(self) -> Readings:
        if not self.moments:
            raise SourceError("gone")
        return self.moments.pop(0)


def test_a_monitor_joins_nodes_by_name_and_outlives_its_source() -> None:
    monitor = Monitor(
        Failing(moment(0, [0.0, 0.8], job="17"), moment(700, [0.0, 0.8], job="17")), RULE
    )
    assert monitor.update()
    assert monitor.update()
    assert monitor.nodes["n1"].idle == 1
    assert monitor.nodes["n1"].utilisation == pytest.approx(0.4)
    assert [each.job for each in monitor.idle] == ["17"]
    assert not monitor.update()
    assert (monitor.nodes, monitor.idle) == ({}, ())
    values = {s.name: s.value for family in monitor.families() for s in family.samples}
    assert values["dovetail_telemetry_unreadable_total"] == 1.0
    assert values["dovetail_telemetry_readings_good_total"] == 4.0


def test_a_rule_without_sense_is_refused() -> None:
    with pytest.raises(ConfigError):
        IdleRule(below=0.0)
    with pytest.raises(ConfigError):
        IdleRule(after=math.nan)
