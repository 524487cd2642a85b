"""`dovetail telemetry status` against a real Prometheus, an exporter and a recording."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.telemetry.exporter import PROMETHEUS, dcgm, exporting, scraping


def test_an_exporter_with_job_labels_names_the_job(dovetail: Command) -> None:
    page = dcgm("n1", 0, 0, more=',hpc_job="17"') + dcgm("n1", 1, 80, more=',hpc_job="17"')
    with exporting(page) as exporter:
        said = dovetail("telemetry", "status", f"exporter:{exporter.url}", "--price", "2")
    assert said.code == 0
    assert "1 GPUs of 1 running jobs" in said.out
    assert "17" in said.out


def test_without_labels_and_slurm_it_says_that_it_is_not_known(dovetail: Command) -> None:
    with exporting(dcgm("n1", 0, 0)) as exporter:
        said = dovetail("telemetry", "status", f"exporter:{exporter.url}")
    assert said.code == 0
    assert "not known who holds which GPU" in " ".join(said.out.split())


def test_a_hostile_label_drives_no_terminal(dovetail: Command) -> None:
    with exporting(dcgm("n1", 0, 0, more=',hpc_job="[red]\x1b]0;x\x07"')) as exporter:
        said = dovetail("telemetry", "status", f"exporter:{exporter.url}")
    assert "\x1b" not in said.out
    assert "[red]" in said.out


@pytest.mark.skipif(PROMETHEUS is None, reason="prometheus is not installed")
def test_prometheus_tells_since_when(dovetail: Command, tmp_path: Path) -> None:
    with exporting() as exporter:
        exporter.page = dcgm("n1", 0, 0, more=',hpc_job="17"')
        with scraping(tmp_path, exporter.address) as url:
            words = "telemetry", "status", f"prometheus:{url}", "--after", "0.05", "--json"
            end = time.monotonic() + 60.0
            while time.monotonic() < end:
                said = dovetail(*words, "--history", "0.1")
                assert said.code == 0, said.err
                found = json.loads(said.out)
                if found["idle"]:
                    break
                time.sleep(1.0)
    (idle,) = found["idle"]
    assert idle["job"] == "17"
    assert 3.0 <= found["time"] - idle["since"] < 60.0
    assert found["idle_gpu_hours"] == pytest.approx((found["time"] - idle["since"]) / 3600)


def test_a_recording_is_replayed_to_its_end(dovetail: Command, tmp_path: Path) -> None:
    path = tmp_path / "util.csv"
    path.write_text("time,host,gpu,utilisation\n0,n1,0,0\n900,n1,0,0\n")
    said = dovetail("telemetry", "status", f"csv:{path}", "--json")
    assert json.loads(said.out)["gpus"] == 1


def test_a_source_that_cannot_be_read_is_one_line(dovetail: Command) -> None:
    said = dovetail("telemetry", "status", "exporter:http://127.0.0.1:9/metrics")
    assert said.code == 2
    assert said.err.startswith("error: http://127.0.0.1:9/metrics: cannot be reached")
