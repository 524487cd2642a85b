"""Curves over time against the schedule second by second."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dovetail.domain.cluster import Cluster
from dovetail.evaluation.comparison import compare
from dovetail.evaluation.report.report import report_html
from dovetail.evaluation.run import Run
from dovetail.evaluation.timeline import timeline_of
from tests.builders import cluster_of, job, trace_of

ROWS = [
    job(submit=0.0, run=40.0, gpus=2),
    job(submit=0.0, run=100.0, gpus=4),
    job(submit=50.0, run=30.0, gpus=1),
    job(submit=100.0, run=10.0, gpus=4),
]


def test_utilisation_by_gpu_type_and_wait_are_those_of_every_second() -> None:
    cluster = cluster_of("1x4:a,1x2:b")
    schedule = Run.of(trace_of(*ROWS), cluster, "fcfs", "exact").replay()
    found = timeline_of(schedule, steps=10)
    shares = dict(found.utilisation)
    assert list(shares) == ["a", "b"]
    for number, name in enumerate(shares):
        busy = np.zeros(100)
        for at in range(len(ROWS)):
            for node, gpus in schedule.where(at):
                if cluster.nodes[number].name == node:
                    begin, end = int(schedule.start[at]), int(schedule.end[at])
                    busy[begin : min(end, 100)] += len(gpus) / cluster.nodes[number].gpus
        assert shares[name] == pytest.approx(busy.reshape(10, 10).mean(axis=1))
    wait = schedule.wait
    assert found.wait[0] == pytest.approx(wait[:2].mean())
    assert found.wait[5] == wait[2]
    assert found.wait[9] == wait[3]
    assert np.isnan(found.wait[3])


def test_the_report_shows_partitions_and_waits_over_time_and_the_json_stays_as_it_was() -> None:
    trace = trace_of(*(job(submit=10.0 * i, run=300.0, gpus=1 + i % 3) for i in range(60)))
    found = compare(trace, Cluster.parse("1x4:a,1x2:b"), ["fcfs", "saf"], "exact")
    page = report_html(found)
    assert "Utilisation by partition under" in page
    assert "Queue wait over time" in page
    assert "timeline" not in json.loads(found.to_json())["rows"][0]
    windows = compare(trace, Cluster.parse("1x4:a,1x2:b"), ["saf"], "exact", sequences=2, length=20)
    assert "Queue wait over time" not in report_html(windows)
