"""Prometheus takes the rules that are shipped, and they ring when they should and not before."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dovetail.live.cycle.report import CycleReport
from dovetail.live.install.native import native_text
from dovetail.live.model.mode import Mode
from dovetail.live.service.metrics.families import families
from dovetail.live.service.metrics.totals import Totals

STORIES = Path(__file__).with_name("rules_test.yml")

needs_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not here")


def promtool(*words: str) -> str:
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_promtool
def test_promtool_takes_the_rules(tmp_path: Path) -> None:
    (tmp_path / "alerts.yml").write_text(native_text("alerts.yml"))
    assert "7 rules found" in promtool("check", "rules", str(tmp_path / "alerts.yml"))


@needs_promtool
def test_every_rule_rings_in_its_story_and_in_no_other(tmp_path: Path) -> None:
    (tmp_path / "alerts.yml").write_text(native_text("alerts.yml"))
    shutil.copy(STORIES, tmp_path / "test.yml")
    assert "SUCCESS" in promtool("test", "rules", str(tmp_path / "test.yml"))
    named = set(re.findall(r"- alert: (\w+)", native_text("alerts.yml")))
    assert named == set(re.findall(r"alertname: (\w+)", STORIES.read_text()))


def test_the_rules_name_only_metrics_that_are_served() -> None:
    report = CycleReport(Mode.ACTIVE, "")
    served = {metric.name for metric in families(Totals().after(report), report, 0.0)}
    asked = set(re.findall(r"dovetail_\w+", native_text("alerts.yml")))
    assert {name.removesuffix("_total") for name in asked} <= served
