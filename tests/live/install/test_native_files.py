"""The unit, the sample configuration, systemd's notifications and the table of first factors."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import tomllib
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from dovetail.domain.errors import ConfigError
from dovetail.live.config import LiveConfig, from_table
from dovetail.live.doctor.host_checks import WATCHDOG
from dovetail.live.install.native import native_text, rendered
from dovetail.live.install.places import Places
from dovetail.live.install.sample_config import sample_config, settings
from dovetail.live.service.first_factors import FirstFactor, table_text, write_first_factors
from dovetail.live.service.notifier import Notifier

UNIT = rendered("dovetail-live.service", Places().values("/bin/true"))
HARDENED = {
    "NoNewPrivileges": "yes",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "RestrictAddressFamilies": "AF_UNIX AF_INET AF_INET6",
    "SystemCallFilter": "@system-service",
    "CapabilityBoundingSet": "",
    "User": "dovetail",
    "Restart": "on-failure",
    "RuntimeDirectory": "dovetail",
    "StateDirectory": "dovetail",
    "Type": "notify",
    "ExecReload": "/bin/kill -HUP $MAINPID",
    "ExecStopPost": "/bin/true live restore --config /etc/dovetail/dovetail.toml",
}


def test_the_unit_gives_the_daemon_no_more_than_it_needs() -> None:
    said = dict(re.findall(r"(?m)^(\w+)=(.*)$", UNIT))
    assert {key: said.get(key) for key in HARDENED} == HARDENED
    assert "MemoryMax" in said
    assert said["WatchdogSec"] == str(WATCHDOG)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_systemd_understands_every_line_of_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "dovetail-live.service"
    unit.write_text(UNIT)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_place_without_a_value_is_not_shipped() -> None:
    with pytest.raises(KeyError):
        rendered("dovetail-live.service", {})


def test_the_sample_configuration_means_the_same_as_an_empty_file() -> None:
    assert from_table(LiveConfig, tomllib.loads(sample_config()), "sample") == LiveConfig()


def test_the_sample_shows_every_key_with_its_default() -> None:
    # Two signs: a comment of one's own has a sentence behind the first, a key has not.
    text = re.sub(r"(?m)^# (\w+ = )", r"\1", sample_config())
    table = tomllib.loads(text)
    assert from_table(LiveConfig, table, "sample") == LiveConfig()
    for item in fields(LiveConfig):
        value = getattr(LiveConfig(), item.name)
        assert item.name in table
        if is_dataclass(value):
            assert table[item.name].keys() == {part.name for part in fields(value)}


def test_the_sample_says_what_keys_mean_in_the_words_of_the_code() -> None:
    assert "# period = 60.0  # seconds between cycles\n" in sample_config()


def test_every_key_has_a_description() -> None:
    assert [setting.key for setting in settings() if not setting.about] == []


@pytest.mark.parametrize("abstract", [False, True], ids=["path", "abstract"])
def test_systemd_hears_that_the_daemon_is_ready_and_alive(tmp_path: Path, abstract: bool) -> None:
    name = f"{tmp_path}/notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(f"\0{name}" if abstract else name)
        systemd.settimeout(10)
        notifier = Notifier.from_environment(
            {"NOTIFY_SOCKET": f"@{name}" if abstract else name, "WATCHDOG_USEC": "300000000"}
        )
        assert notifier.watchdog == 300.0
        notifier.ready("shadow")
        assert systemd.recv(1000) == b"READY=1\nSTATUS=shadow"
        notifier.alive("job\nMAINPID=1 waits")
        assert systemd.recv(1000) == b"WATCHDOG=1\nSTATUS=job MAINPID=1 waits"
        notifier.stopping("restored")
        assert systemd.recv(1000) == b"STOPPING=1\nSTATUS=restored"


def test_nothing_is_sent_where_nobody_listens(tmp_path: Path) -> None:
    Notifier.from_environment({}).ready("alone")
    Notifier(address=str(tmp_path / "gone")).alive("alone")
    assert Notifier.from_environment({"WATCHDOG_USEC": "5", "WATCHDOG_PID": "1"}).watchdog == 0.0


def test_the_table_is_readable_by_slurm_and_counts_its_versions(tmp_path: Path) -> None:
    write_first_factors(tmp_path, [FirstFactor("gpu", 1, 2)], 60.0)
    first = (tmp_path / "first_factors").read_text()
    write_first_factors(tmp_path, [FirstFactor("gpu", 1, 2)], 60.0)
    second = (tmp_path / "first_factors").read_text()
    assert (tmp_path / "first_factors").stat().st_mode & 0o777 == 0o644
    assert first.splitlines()[1:] == second.splitlines()[1:] == ["gpu 1 2", "end"]
    assert first != second


@pytest.mark.parametrize(
    "row",
    [
        FirstFactor("two words", 1, 1),
        FirstFactor("", 1, 1),
        FirstFactor("line\nend", 1, 1),
        FirstFactor("gpu", -1, 1),
        FirstFactor("gpu", 1, 2**31),
    ],
)
def test_rows_that_the_reader_would_not_take_are_not_written(row: FirstFactor) -> None:
    with pytest.raises(ConfigError):
        table_text([row], 1, 2)


def test_a_table_that_the_reader_would_find_too_large_is_not_written() -> None:
    with pytest.raises(ConfigError, match="fewer rows"):
        table_text([FirstFactor(f"partition{n}", 1, 1) for n in range(10_000)], 1, 2)


def test_submit_script_and_writer_agree_on_their_limits() -> None:
    script = native_text("dovetail_submit.lua")
    assert "MOST_BYTES = 65536" in script
    assert "MOST_FACTOR = 2147483645" in script
