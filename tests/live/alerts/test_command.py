"""The site's own command: told once, with plain words, and never waited for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dovetail.domain.errors import ConfigError
from dovetail.live.alerts import Alert, AlertCommand, AlertKind, alerts_of
from dovetail.live.config import AlertConfig
from dovetail.live.cycle.report import CycleReport
from dovetail.live.model.mode import Mode

FELL = Alert(AlertKind.FALLBACK, "left active mode: `touch x`; $(touch y)\nsecond line")


def script(folder: Path, text: str) -> str:
    path = folder / "tell"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def config(folder: Path, text: str, **more: float) -> AlertConfig:
    return AlertConfig(command=(script(folder, text), "--to", "ops"), **more)


def test_words_reach_the_command_as_they_are_and_no_shell_sees_them(tmp_path: Path) -> None:
    said = tmp_path / "said"
    alarm = AlertCommand(config(tmp_path, f'for word; do echo "$word" >> {said}; done'))
    alarm.tell([FELL])
    alarm.close()
    assert said.read_text().splitlines() == [
        "--to", "ops", "fallback", "left active mode: `touch x`; $(touch y)?second line",
    ]  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} == {"said", "tell"}


def test_an_alert_is_told_once_in_its_time_and_others_wait_their_turn(tmp_path: Path) -> None:
    said, now = tmp_path / "said", 0.0
    alarm = AlertCommand(config(tmp_path, f'echo "$3" >> {said}', every=100.0), lambda: now)
    for _ in range(5):
        alarm.tell([FELL, Alert(AlertKind.STALE, "no answer")])
        alarm.close()
        now += 10.0
    assert said.read_text().split() == ["fallback", "stale"]
    now = 200.0
    alarm.tell([FELL])
    alarm.close()
    assert said.read_text().split() == ["fallback", "stale", "fallback"]


def test_a_command_that_hangs_is_ended_and_holds_nobody_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    alarm = AlertCommand(config(tmp_path, "sleep 300", timeout=0.2))
    began = time.monotonic()
    alarm.tell([FELL])
    assert time.monotonic() - began < 0.2
    time.sleep(0.3)
    alarm.tell([])
    assert "took longer than 0.2 s and was ended" in caplog.text


def test_a_command_that_others_could_have_written_is_not_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = config(tmp_path, f"touch {tmp_path}/ran")
    Path(settings.command[0]).chmod(0o777)
    alarm = AlertCommand(settings)
    alarm.tell([FELL])
    alarm.close()
    assert "not told" in caplog.text
    assert not (tmp_path / "ran").exists()


def test_without_a_command_nothing_is_run_and_a_bare_name_is_refused() -> None:
    AlertCommand(AlertConfig()).tell([FELL])
    with pytest.raises(ConfigError, match="a path from / on"):
        AlertConfig(command=("mail", "root"))


@pytest.mark.parametrize(
    ("report", "kinds"),
    [
        (CycleReport(Mode.ACTIVE, "all is well", sent=3, failed=1), []),
        (CycleReport(Mode.SHADOW, "left", fell_back=True), ["fallback"]),
        (CycleReport(Mode.ACTIVE, "", sent=3, failed=2, trouble="denied"), ["failed"]),
        (CycleReport(Mode.ACTIVE, "", budget_spent=0.9), ["budget"]),
        (CycleReport(Mode.ACTIVE, "", snapshot_age=700.0), ["stale"]),
        (CycleReport(Mode.ACTIVE, "", twin_error=-0.6, twin_difference=0.2), ["drift"]),
        (CycleReport(Mode.ACTIVE, "", twin_error=0.1, twin_difference=0.2), ["drift"]),
    ],
)
def test_what_somebody_should_know(report: CycleReport, kinds: list[str]) -> None:
    assert [alert.kind.value for alert in alerts_of(report)] == kinds
