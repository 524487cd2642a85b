"""`dovetail mig simulate` and `dovetail mig compare`, end to end on an hour of jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dovetail.mig.evaluation.contenders import ResolvedContender
from dovetail.mig.schedule import MigSchedule
from tests.cli.conftest import Command
from tests.traces.samples import SAMPLES

TINY = ("--hours", 1, "--rate", 30)
TWO = ("--cluster", "2xa100-40:1,12")


def test_a_day_is_played_and_its_figures_stand_above_the_bounds(
    dovetail: Command, tmp_path: Path
) -> None:
    said = dovetail("mig", "simulate", *TINY, *TWO, "--json", tmp_path / "s.json")
    assert said.code == 0, said.err
    found = json.loads((tmp_path / "s.json").read_text())
    assert {"late_share", "tardiness_mean", "energy_joules", "energy_kwh", "energy_watt_minutes",
            "energy_tardiness", "idle_slice_share", "repartitions"} <= found.keys()  # fmt: skip
    for key, bound in found["bounds"].items():
        assert found[key] >= bound, key
    assert found["config"]["cluster"] == "2xa100-40:1,12"
    for words in ("late", "W·min", "energy bound", "idle slices", "repartitions"):
        assert words in said.out


def test_a_saved_workload_gives_the_same_figures(dovetail: Command, tmp_path: Path) -> None:
    day, first, second = (tmp_path / name for name in ("day.csv", "1.json", "2.json"))
    drawn = dovetail("mig", "simulate", *TINY, *TWO, "--save", day, "--json", first)
    assert drawn.code == 0, drawn.err
    again = dovetail("mig", "simulate", "--workload", day, *TWO, "--json", second)
    assert again.code == 0, again.err
    one, other = json.loads(first.read_text()), json.loads(second.read_text())
    for figures in (one, other):
        figures.pop("sim_seconds")
        figures["config"].pop("workload")
    assert one == other


def test_pods_are_played_with_notes_on_what_was_drawn(dovetail: Command, tmp_path: Path) -> None:
    said = dovetail("mig", "simulate", "--pods", SAMPLES["openb"](tmp_path), "--compress", 10)
    assert said.code == 0, said.err
    assert "openb-pods, 2 jobs" in said.out
    assert "deadlines drawn with seed 0" in said.err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--placer", "etf"), "did you mean 'eft'?"),
        (("--repartitioner", "non"), "did you mean 'none'?"),
        (("--cluster", "2xa100-4"), "did you mean 'a100-40'?"),
        (("--control", "x", "--placer", "eft"), "leave out --placer"),
        (("--slack", "2"), "write two numbers, as 2,4"),
        (("--slack", "4,2"), "expected above 0 and ascending"),
        (("--energy-weight", "-1"), "expected above 0"),
        (("--workload", "gone.csv"), "gone.csv"),
        (("--workload", "a.csv", "--rate", "3"), "--rate is for drawn days"),
        (("--pods", "a.csv", "--hours", "3"), "pods have --compress"),
        (("--save", "no/such/day.csv"), "make it first"),
    ],
)
def test_mistakes_are_told_in_words(
    dovetail: Command, given: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    said = dovetail("mig", "simulate", *given)
    assert said.code == 2
    assert words in said.err


def test_a_folder_without_repartitioner_is_refused(dovetail: Command, tmp_path: Path) -> None:
    said = dovetail("mig", "simulate", *TINY, "--repartitioner", tmp_path)
    assert said.code == 2
    assert "not a readable checkpoint" in said.err


def test_every_placer_is_compared_on_every_cluster(dovetail: Command, tmp_path: Path) -> None:
    figures, report = tmp_path / "c.json", tmp_path / "r.html"
    said = dovetail(
        *("mig", "compare", *TINY, *TWO, "--cluster", "2xa100-40:2,2", "--days", 3),
        *("--placers", "eft,random", "--json", figures, "--report", report, "--seed", 5),
    )
    assert said.code == 0, said.err
    found = json.loads(figures.read_text())
    assert found["complete"]
    assert [row["label"] for row in found["rows"]] == [
        "eft on A", "random on A", "eft on B", "random on B",
    ]  # fmt: skip
    assert "B = 2xa100-40:2,2" in said.out
    assert len(found["bounds"]) == 1  # however the two GPUs are cut
    for row in found["rows"]:
        assert len(row["per_day"]["late_share"]) == 3
        assert row["mean"]["energy_joules"] >= found["bounds"][0]["mean"]["energy_joules"]
        assert row["std"]["energy_kwh"] > 0
    assert report.read_text().startswith("<!DOCTYPE html>")


def test_the_default_placers_are_known(dovetail: Command) -> None:
    said = dovetail("mig", "compare", *TINY, *TWO, "--days", 1)
    assert said.code == 0, said.err
    assert "categorical-edf" in said.out
    assert "dovetail" in said.out


def test_clusters_of_other_gpus_have_bounds_of_their_own(dovetail: Command, tmp_path: Path) -> None:
    said = dovetail(
        *("mig", "compare", *TINY, *TWO, "--cluster", "4xa30-24:1", "--days", 1),
        *("--placers", "eft", "--json", tmp_path / "c.json"),
    )
    assert said.code == 0, said.err
    bounds = json.loads((tmp_path / "c.json").read_text())["bounds"]
    assert [bound["gpus"] for bound in bounds] == ["2xa100-40", "4xa30-24"]


@pytest.mark.parametrize("width", [60, 80, 150])
def test_no_number_is_cut_on_a_narrow_terminal(
    dovetail: Command, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    said = dovetail("mig", "compare", *TINY, *TWO, "--days", 2, "--placers", "eft,categorical-edf")
    assert "…" not in said.out
    assert max(map(len, said.out.splitlines())) <= width
    assert ("No room here for" in said.out) == (width < 150)


def test_ctrl_c_keeps_the_days_that_all_have_finished(
    dovetail: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, runs = ResolvedContender.run, []

    def until_the_fourth(parts: ResolvedContender, *given: Any, **more: Any) -> MigSchedule:
        runs.append(parts.placer.name)
        if len(runs) == 4:
            raise KeyboardInterrupt
        return run(parts, *given, **more)

    monkeypatch.setattr(ResolvedContender, "run", until_the_fourth)
    out = tmp_path / "c.json"
    said = dovetail(
        *("mig", "compare", *TINY, *TWO, "--days", 3),
        *("--placers", "eft,random", "--json", out),
    )
    assert said.code == 130
    assert "interrupted: the table holds what was finished" in said.err
    found = json.loads(out.read_text())
    assert not found["complete"]
    assert [len(row["per_day"]["late_share"]) for row in found["rows"]] == [1, 1]


def test_ctrl_c_before_the_first_run_says_so(
    dovetail: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_once(*parts: Any, **more: Any) -> MigSchedule:
        raise KeyboardInterrupt

    monkeypatch.setattr(ResolvedContender, "run", at_once)
    said = dovetail("mig", "compare", *TINY, *TWO)
    assert said.code == 130
    assert "before the first run was finished" in said.err


def test_a_workload_is_one_day(dovetail: Command, tmp_path: Path) -> None:
    day = tmp_path / "day.csv"
    assert dovetail("mig", "simulate", *TINY, *TWO, "--save", day).code == 0
    said = dovetail("mig", "compare", "--workload", day, *TWO, "--days", 2)
    assert said.code == 2
    assert "ask for one day of it" in said.err
    said = dovetail("mig", "compare", "--workload", day, *TWO, "--placers", "eft")
    assert said.code == 0, said.err


def test_a_plan_can_be_searched_on_saved_jobs(dovetail: Command, tmp_path: Path) -> None:
    day = tmp_path / "day.csv"
    assert dovetail("mig", "simulate", *TINY, "--save", day).code == 0
    plan = ("mig", "plan", "--gpus", 2, "--nodes", "mig-1", "--search", day)
    said = dovetail(*plan, "--model", "a100-40")
    assert said.code == 0, said.err
    assert "simulated cuts; ET" in said.out
    assert "mig-parted.yaml" in said.out
    said = dovetail(*plan, "--model", "h100-80")
    assert said.code == 0, said.err
    many = dovetail("mig", "plan", "--gpus", 8, "--nodes", "a[1-40]", "--search", day,
                    "--model", "a100-40")  # fmt: skip
    assert many.code == 2
    assert "320 GPUs are too many" in many.err


@pytest.mark.parametrize("gpus", [0, 65, 100_000])
def test_a_plan_for_more_gpus_than_a_node_can_have_is_refused_at_once(
    dovetail: Command, gpus: int
) -> None:
    said = dovetail("mig", "plan", "--gpus", gpus, "--nodes", "a", "--demand", "1g=4",
                    "--model", "a100-40")  # fmt: skip
    assert said.code == 2


def test_what_is_told_of_run_times_is_an_option_and_stands_in_the_result(
    dovetail: Command, tmp_path: Path
) -> None:
    figures = tmp_path / "c.json"
    said = dovetail(
        *("mig", "compare", *TINY, *TWO, "--days", 2, "--placers", "edf-most-packed"),
        *("--estimates", "noisy:1.5", "--json", figures),
    )
    assert said.code == 0, said.err
    assert "run times told: noisy:1.5" in " ".join(said.out.split())
    assert json.loads(figures.read_text())["config"]["estimates"] == "noisy:1.5"
    said = dovetail("mig", "simulate", *TINY, *TWO, "--estimates", "limit")
    assert said.code == 2
    assert "write exact, noisy:0.5" in said.err
