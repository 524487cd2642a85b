"""What Prometheus is told of telemetry is as Prometheus wants it."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from dovetail.telemetry import Monitor
from tests.telemetry.test_idle import RULE, Failing, moment

PROMTOOL = shutil.which("promtool")


class Told(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self.families = families

    def collect(self) -> list[Metric]:
        return self.families


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
def test_promtool_finds_nothing_to_mend() -> None:
    monitor = Monitor(
        Failing(moment(0, [0.0, 7.0], job="17"), moment(700, [0.0, 0.8], job="17")), RULE
    )
    while monitor.update():
        pass
    registry = CollectorRegistry()
    registry.register(Told(list(monitor.families())))
    text = generate_latest(registry)
    assert (
        b'dovetail_telemetry_readings_bad_total{fault="out of range",quantity="utilisation"} 1.0'
        in text
    )
    assert PROMTOOL is not None
    found = subprocess.run([PROMTOOL, "check", "metrics"], input=text, capture_output=True)
    assert (found.returncode, found.stdout, found.stderr) == (0, b"", b"")
