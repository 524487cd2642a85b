"""Comparisons on sliced GPUs: paired days, bounds, what happened over time, and the report."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Ints
from dovetail.mig.agents.control_config import ControlTraining
from dovetail.mig.agents.control_training import train_repartition
from dovetail.mig.evaluation.comparison import MigComparison, compare_mig, paired
from dovetail.mig.evaluation.contenders import Contender, cross, letters
from dovetail.mig.evaluation.history import CutHistory, busiest, power
from dovetail.mig.evaluation.report import mig_report_html
from dovetail.mig.gpus.cluster import MigCluster
from dovetail.mig.mean_field import MeanField
from dovetail.mig.policies import PLACERS
from dovetail.mig.policies.controllers import TOLD, score_field
from dovetail.mig.policy import ClusterView
from dovetail.mig.schedule import MigSchedule
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import mig_day
from dovetail.mig.workload.jobs import MigWorkload

TWO = "2xa100-40:1,12"
HOSTILE = "<img src=x onerror=alert(1)>&\"'$x^2$"


@pytest.fixture(scope="module")
def days() -> list[MigWorkload]:
    return [mig_day(seed, rate=30.0, hours=1.0) for seed in range(3)]


@pytest.fixture(scope="module")
def found(days: list[MigWorkload]) -> MigComparison:
    return compare_mig(days, cross(["eft", "random"], [TWO]))


class Turner:
    """Asks each GPU for its next way, in turn."""

    name, every = "turner", 7

    def wanted(self, view: ClusterView) -> Ints:
        ways: Ints = (view.way + 1) % 3
        return ways


def restless() -> MeanField:
    """Every way is worth the same, and staying nothing."""
    kinds = MigCluster.parse(TWO).kinds
    ways = len(kinds[0].ways)
    return score_field(np.zeros((ways, 1 + len(TOLD))), "restless", 0.0, 5, 3)


def test_all_play_the_same_days_and_means_are_over_them(
    days: list[MigWorkload], found: MigComparison
) -> None:
    row = found.rows[0]
    alone = [
        simulate_mig(day, MigCluster.parse(TWO), PLACERS["eft"], seed=n)
        for n, day in enumerate(days)
    ]
    energy = [float(schedule.energy.sum()) for schedule in alone]
    assert row.per_day["energy_joules"] == tuple(energy)
    assert row.mean["energy_joules"] == pytest.approx(np.mean(energy))
    assert row.std["energy_joules"] == pytest.approx(np.std(energy, ddof=1))
    assert paired(row, row).value == 1.0


def test_the_same_days_give_the_same_text(days: list[MigWorkload], found: MigComparison) -> None:
    again = compare_mig(days, cross(["eft", "random"], [TWO]))

    def stable(text: str) -> str:
        return re.sub(r'"sim_seconds": (\[[^]]*\]|[^,\n]*)', "", text)

    assert stable(again.to_json()) == stable(found.to_json())


def test_nobody_is_below_the_bound(found: MigComparison) -> None:
    for row in found.rows:
        for key, bound in found.bound_of(row).items():
            assert min(row.per_day[key]) >= 0
            assert row.mean[key] >= bound


def test_nothing_to_compare_is_an_error(days: list[MigWorkload]) -> None:
    with pytest.raises(ConfigError, match="nothing to compare"):
        compare_mig(days, [])
    with pytest.raises(ConfigError, match="no metric 'speed'"):
        compare_mig(days[:1], [Contender("eft", TWO)]).best("speed")


def test_a_cluster_is_read_back_from_its_text() -> None:
    for text in (TWO, "3xa100-40:1,2,3 + 2xa30-24:1,5 + 1xa100-40:19"):
        assert MigCluster.parse(text).text == text
        assert MigCluster.parse(MigCluster.parse(text).text) == MigCluster.parse(text)


def test_clusters_have_letters_and_never_run_out_of_them() -> None:
    specs = [f"{n}xa100-40:1" for n in range(1, 30)]
    named = letters([Contender("eft", spec) for spec in specs])
    assert [named[specs[0]], named[specs[25]], named[specs[26]]] == ["A", "Z", "A2"]
    assert len(set(named.values())) == len(specs)


@pytest.mark.parametrize("placer", ["eft", "smallest-first"])
@pytest.mark.parametrize("repartitioner", [None, Turner()])
def test_power_over_time_adds_up_to_the_energy(
    days: list[MigWorkload], placer: str, repartitioner: Turner | None
) -> None:
    schedule = simulate_mig(
        days[0], MigCluster.parse("2xa100-40:1,12 + 1xa30-24:5"), PLACERS[placer], repartitioner
    )
    first = float(days[0].trace.jobs.submit[0])
    edges = np.linspace(first, first + schedule.span, 50)
    total = float(np.sum(power(schedule, edges) * np.diff(edges)))
    assert total == pytest.approx(float(schedule.energy.sum()), rel=1e-9)


@pytest.mark.parametrize("repartitioner", [Turner(), restless()], ids=lambda r: r.name)
def test_watching_changes_nothing_and_tells_every_cut(
    days: list[MigWorkload], repartitioner: Any
) -> None:
    cluster = MigCluster.parse(TWO)
    begin = float(days[0].trace.jobs.submit[0])
    cuts = CutHistory.of(cluster, begin)
    watched = simulate_mig(days[0], cluster, PLACERS["eft"], repartitioner, seed=3, watch=cuts)
    alone = simulate_mig(days[0], cluster, PLACERS["eft"], repartitioner, seed=3)
    np.testing.assert_array_equal(watched.start, alone.start)
    np.testing.assert_array_equal(watched.offset, alone.offset)
    assert watched.repartitions == alone.repartitions > 0
    changes = sum(
        sum(a != b for a, b in zip(one, other, strict=True))
        for one, other in zip(cuts.numbers, cuts.numbers[1:], strict=False)
    )
    assert changes == watched.repartitions
    assert_jobs_lie_on_slices(watched, cuts)


def assert_jobs_lie_on_slices(schedule: MigSchedule, cuts: CutHistory) -> None:
    """Wherever a job starts, the GPU's cut then has an instance of that size and place."""
    kind = schedule.cluster.models[0]
    for row in np.flatnonzero(schedule.ran).tolist():
        number = cuts.at(float(schedule.start[row]))[int(schedule.gpu[row])]
        there = [(profile.compute, offset) for profile, offset in kind.layout(number)]
        assert (schedule.size[row], schedule.offset[row]) in there


def test_stretches_join_what_did_not_change() -> None:
    cuts = CutHistory.of(MigCluster.parse(TWO), 0.0)
    for now, numbers in ((5.0, [1, 12]), (10.0, [1, 2]), (20.0, [3, 2])):
        cuts(now, np.array(numbers))
    assert cuts.stretches(0, 30.0) == [(0.0, 20.0, 1), (20.0, 30.0, 3)]
    assert cuts.stretches(1, 15.0) == [(0.0, 10.0, 12), (10.0, 15.0, 2)]
    assert cuts.at(9.9) == (1, 12)
    assert cuts.at(10.0) == (1, 2)


def test_the_busiest_stretch_holds_the_moment_when_most_jobs_wait(days: list[MigWorkload]) -> None:
    schedule = simulate_mig(days[0], MigCluster.parse(TWO), PLACERS["eft"])
    submit = days[0].trace.jobs.submit
    first, last = busiest(schedule, 600.0)
    assert last - first == pytest.approx(600.0)
    waiting = [int(np.sum((submit <= t) & (schedule.start > t))) for t in submit]
    peak = submit[int(np.argmax(waiting))]
    assert first <= peak <= last
    assert busiest(schedule, 1e9) == (submit[0], submit[0] + schedule.span)


class Page(HTMLParser):
    """Which elements there are, and whether each is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.tags: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "img":
            self.images.append(dict(attrs))
        elif tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def drawings(self) -> list[str]:
        data = [str(image["src"]).partition(",")[2] for image in self.images]
        return [base64.b64decode(part).decode() for part in data]


def test_the_report_is_whole_and_shows_charts(
    days: list[MigWorkload], found: MigComparison
) -> None:
    text = mig_report_html(found, days[0])
    page = Page(text)
    assert page.open == []
    assert len(page.images) == 6  # four of bars, power, jobs on slices
    assert "lower bound" in text
    assert "Interrupted" not in text
    drawn = [
        base64.b64decode(str(image["src"]).partition(",")[2]).decode() for image in page.images
    ]
    assert all("<svg" in svg for svg in drawn)
    assert any("GPU 2: " in svg for svg in drawn)


def test_the_report_shows_how_gpus_are_cut_and_escapes_hostile_names(
    days: list[MigWorkload], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small = ControlTraining(
        cluster=TWO, hours=1.0, days=1, validation_days=1, epochs=1, population=4, batch=1
    )
    train_repartition(small, Path(HOSTILE))
    named = replace(days[0], trace=replace(days[0].trace, name=HOSTILE, notes=(HOSTILE,)))
    comparison = compare_mig([named], [Contender(HOSTILE, TWO, HOSTILE), Contender("eft", TWO)])
    assert comparison.rows[0].mean["repartitions"] > 0
    text = mig_report_html(replace(comparison, complete=False), named)
    page = Page(text)
    assert page.open == []
    assert "onerror" not in {name for image in page.images for name in image}
    assert all(str(image["src"]).startswith("data:image/svg+xml;") for image in page.images)
    assert "&lt;img src=x" in text
    assert "Interrupted" in text
    assert "script" not in page.tags
    drawn = [
        base64.b64decode(str(image["src"]).partition(",")[2]).decode() for image in page.images
    ]
    assert not any("<img" in svg for svg in drawn)
    assert any("hours since the day began" in svg and ">GPUs<" in svg for svg in drawn)
