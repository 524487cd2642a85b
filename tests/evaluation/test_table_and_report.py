"""Tables and reports: the best is marked, and nothing from outside is trusted."""

from __future__ import annotations

import base64
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.promises import Promises
from dovetail.evaluation.comparison import Comparison, compare
from dovetail.evaluation.report.charts import busy_share
from dovetail.evaluation.report.report import report_html, write_report
from dovetail.evaluation.report.table import BOUND, COLUMNS, grid, markdown
from dovetail.evaluation.report.who_pays import HEADS
from dovetail.evaluation.run import Run
from dovetail.policies.policy import Policy
from dovetail.traces.loader import load_trace
from tests.builders import job, trace_of

HOSTILE = "<script>alert('[bold]')</script>&|$x^2$"
CLUSTER = Cluster.parse("1x8")
ROWS = [
    job(0, 7200, 8, user="ann"),
    job(1, 9000, 8, user=HOSTILE, kind=HOSTILE),
    job(2, 60, 8, user="bob"),
    job(3, 60, 9),
]


@cache
def result(sequences: int | None = None) -> Comparison:
    trace = trace_of(*ROWS, name=HOSTILE)
    return compare(trace, CLUSTER, ["fcfs", "saf"], "exact", sequences=sequences, length=3)


def test_the_best_of_each_column_is_marked_and_the_bound_comes_last() -> None:
    *rows, (label, bound) = grid(result())
    first = {label: cells[0] for label, cells in rows}
    assert first["saf+easy"].marked.endswith("*")
    assert not first["fcfs+easy"].best
    assert label == BOUND
    assert [cell.text for cell in bound][4:] == ["–"] * 6


def test_a_column_in_which_all_are_equal_has_no_best() -> None:
    unfinished = [column.key for column in COLUMNS].index("unfinished")
    assert not any(cells[unfinished].best for _, cells in grid(result()))


def test_markdown_rows_have_as_many_cells_as_the_heading() -> None:
    lines = [line for line in markdown(result()).splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 2 + 1
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {len(COLUMNS) + 2}
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize("sequences", [None, 2])
def test_a_report_is_one_file_that_loads_and_runs_nothing(sequences: int | None) -> None:
    page = report_html(result(sequences))
    drawings = re.findall(r"src='data:image/svg\+xml;base64,([^']+)'", page)
    # A whole trace has a course of time, too: use by partition, and waits.
    assert len(drawings) == (3 if sequences else 5)
    for drawing in drawings:
        svg = base64.b64decode(drawing).decode()
        assert "<script" not in svg
        assert not re.search(r"(href|src)=[\"']http", svg)
    assert "<script" not in page
    assert not re.search(r"(href|src)=[\"']?(http|//)", page)
    assert "&lt;script&gt;alert(" in page


def test_a_report_is_well_formed_and_accessible() -> None:
    page = report_html(result())
    reader = Tags()
    reader.feed(page)
    assert reader.open == []
    assert "<html lang='en'>" in page
    assert "<title>" in page
    who_pays = page.count("<h2>Who gains, who pays</h2>")
    assert page.count("scope='col'") == len(COLUMNS) + 4 + who_pays * len(HEADS)
    assert all("alt='" in image for image in re.findall(r"<img[^>]*>", page))


class Tags(HTMLParser):
    """Elements still open; every end must match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_with_schedules_a_report_also_shows_utilisation_and_is_repeatable(tmp_path: Path) -> None:
    trace = trace_of(*ROWS)
    exact = Estimates("exact", np.maximum(trace.jobs.run, 1.0))
    schedules = {
        row.label: Run(trace, CLUSTER, row.policy, exact).replay() for row in result().rows
    }
    write_report(result(), tmp_path / "a.html", schedules)
    write_report(result(), tmp_path / "b.html", schedules)
    page = (tmp_path / "a.html").read_bytes()
    assert page == (tmp_path / "b.html").read_bytes()
    assert b"GPUs in use over time" in page


def test_utilisation_over_time_adds_up_to_the_gpu_time_used() -> None:
    trace = trace_of(job(0, 10, 4), job(5, 10, 4), job(30, 10, 8))
    schedule = Run(trace, CLUSTER, Policy("fcfs"), Estimates("exact", trace.jobs.run)).replay()
    share = busy_share(schedule, np.array([0.0, 5.0, 10.0, 20.0, 40.0]))
    assert share.tolist() == pytest.approx([0.5, 1.0, 0.25, 0.5])


def test_a_report_can_be_made_where_no_job_ran() -> None:
    nothing = compare(trace_of(job(0, 10, 9)), CLUSTER, ["fcfs", "saf"], "exact")
    assert "1x8" in report_html(nothing)
    assert BOUND in markdown(nothing)


def test_who_gains_and_who_pays_is_told_against_slurms_order() -> None:
    trace = load_trace("synth:helios", jobs=300, seed=1, load=1.2, cluster_gpus=64)
    found = compare(trace, "8x8", ["fcfs", "slurm-multifactor", "saf"], estimates="exact")
    assert found.reference.startswith("slurm-multifactor")
    slurm = found["slurm-multifactor+easy"]
    assert all(group.mean == group.baseline_mean for group in slurm.groups)
    sizes = [group for group in found["saf+easy"].groups if group.grouping == "size"]
    assert sum(group.jobs for group in sizes) == 300
    promised = Promises(size_mean=0.0, size_p95=0.0, utilisation=0.0)
    assert not found.check(promised, slurm).broken
    assert "Who gains, who pays" in report_html(found)
