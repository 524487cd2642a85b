"""`dovetail live mode`, `status`, `doctor` and `report` where there is little to talk to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dovetail.live.service.switchboard import Switchboard
from tests.cli.conftest import Command

FOUR_LINES = """\
scontrol: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host
scontrol: error: fetch_config: DNS SRV lookup failed
scontrol: error: _establish_config_source: failed to fetch config
scontrol: fatal: Could not establish a configuration source
"""
"""What Slurm 22.05 says on a machine without a configuration."""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("scontrol", "squeue", "sinfo", "sacctmgr", "sdiag", "sprio", "sshare"):
        version = '[ "$1" = -V ] && echo slurm-wlm 22.05.8 && exit'
        (programs / name).write_text(
            f"#!/bin/sh\n{version}\ncat >&2 <<'END'\n{FOUR_LINES}END\nexit 1\n"
        )
        (programs / name).chmod(0o755)
    path = tmp_path / "dovetail.toml"
    path.write_text(
        f'run_dir = "{tmp_path / "run"}"\npolicy = "sjf"\n[slurm]\nbin = "{programs}"\n'
        f'[journal]\npath = "{tmp_path / "journal.sqlite"}"\n[metrics]\nport = 0\n'
    )
    path.chmod(0o600)
    return path


def test_asking_for_active_without_a_run_folder_does_not_speak_of_a_switch(
    dovetail: Command, config: Path, tmp_path: Path
) -> None:
    said = dovetail("live", "mode", "active", "--config", config)
    assert said.code == 2
    assert f"{tmp_path / 'run'}: there is no such run folder" in said.err
    assert "kill switch" not in said.err
    found = dovetail("live", "status", "--config", config, "--json")
    assert json.loads(found.out) == {"running": False, "killed": False}
    board = Switchboard(tmp_path / "run")
    board.open()
    board.close()
    (tmp_path / "run" / "stop").touch()
    said = dovetail("live", "mode", "active", "--config", config)
    assert f"the kill switch is on: rm {tmp_path / 'run' / 'stop'} first" in said.err


def test_without_a_controller_there_is_one_sentence_and_what_to_do(
    dovetail: Command, config: Path
) -> None:
    said = dovetail("live", "doctor", "--config", config)
    line = "problem  controller: Could not establish a configuration source"
    at = said.out.splitlines().index(line)
    assert said.out.splitlines()[at + 1].strip().startswith("→ set slurm.conf in the configuration")
    report = dovetail("live", "report", "--config", config)
    assert report.code == 2
    assert report.err.splitlines()[-1] == (
        "error: scontrol: Could not establish a configuration source; set slurm.conf in the "
        "configuration, or SLURM_CONF, to the cluster's slurm.conf"
    )
    for text in (said.out, report.err):
        assert "res_nsearch" not in text


def test_status_says_what_the_running_model_was_trained_for(
    dovetail: Command, config: Path, tmp_path: Path
) -> None:
    board = Switchboard(tmp_path / "run")
    board.open()
    about = {"pid": 0, "wall": 0.0, "mode": "shadow", "policy": "/srv/model", "sentence": "calm"}
    board.tell({**about, "trained_for": "wait=1,tail=0.5"})
    said = dovetail("live", "status", "--config", config)
    assert "/srv/model, trained for wait=1,tail=0.5" in said.out
    board.tell(about)
    assert "trained for" not in dovetail("live", "status", "--config", config).out
    board.close()
