"""The unit under a real systemd, installed as the handbook says, beside Debian's own Slurm."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from dovetail.compiled.cache import user_cache
from tests.live.slurm import Accounting, Options, why_not
from tests.live.systemd.machine import Machine, why_no_machine
from tests.live.systemd.site import site_factors, start_slurm, submit

UNIT = "dovetail-live"
COMPILING = 120.0
"""Seconds for the first cycle on a busy machine."""
CONFIG = "/etc/dovetail/dovetail.toml"
DROP_IN = f"/etc/systemd/system/{UNIT}.service.d/quick.conf"
# Seconds instead of minutes; all else is as it is installed.
QUICK = "[Service]\nRestartSec=1\n"
SETTINGS = 'policy = "sjf"\nperiod = 2.0\nmin_period = 1.0\n'


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """A site with Dovetail, in active mode, and three jobs that wait."""
    reason = why_no_machine() or why_not(Options(accounting=Accounting()))
    if reason is not None:
        pytest.skip(reason)
    with Machine() as machine:
        start_slurm(machine)
        install(machine)
        submit(machine, minutes=60)
        for minutes in (50, 20, 40):
            submit(machine, minutes)
        yield machine


def keep_compiled_code(machine: Machine) -> None:
    """What the tests have compiled so far: compiling takes a minute, and is no matter here."""
    cache = user_cache()
    if machine.run("test", "-d", str(cache), check=False).returncode:
        pytest.skip(f"{cache} is not seen by a machine with a /tmp of its own: it would compile")
    if cache.is_dir():
        machine.run("install", "-d", "/var/cache/dovetail")
        machine.run("cp", "-a", str(cache), "/var/cache/dovetail/dovetail")
        machine.run("chown", "-R", "dovetail:", "/var/cache/dovetail")


def install(machine: Machine) -> None:
    """The handbook's commands, and those that the installation prints."""
    said = machine.run("dovetail", "live", "install", "--yes").stdout
    machine.write(CONFIG, SETTINGS)
    machine.write(DROP_IN, QUICK)
    steps = [shlex.split(line) for line in said.partition("Then, as root:")[2].splitlines()]
    for step in filter(None, steps):
        # The doctor has something to say before the service was ever started.
        machine.run(*step, check="doctor" not in step, timeout=400)
        if step[0] == "useradd":
            keep_compiled_code(machine)


def go_active(machine: Machine) -> None:
    machine.run("dovetail", "live", "mode", "active", "--config", CONFIG)
    machine.wait_until(lambda: any(site_factors(machine).values()), 60)


def main_process(machine: Machine) -> int:
    return int(machine.shows(UNIT, "MainPID"))


def all_restored(machine: Machine) -> bool:
    return set(site_factors(machine).values()) == {0}


def test_it_starts_as_its_own_user_and_says_that_it_is_ready(machine: Machine) -> None:
    assert machine.shows(UNIT, "ActiveState") == "active"
    assert machine.shows(UNIT, "UnitFileState") == "enabled"
    machine.wait_until(lambda: "3 wait" in machine.shows(UNIT, "StatusText"), COMPILING)
    status = machine.run("cat", f"/proc/{main_process(machine)}/status").stdout
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    user = machine.run("id", "-u", "dovetail").stdout.strip()
    assert set(fields["Uid"].split()) == {user}
    assert (int(fields["CapEff"], 16), int(fields["CapBnd"], 16)) == (0, 0)
    assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")


def test_the_doctor_has_no_complaint_of_the_installation(machine: Machine) -> None:
    words = ("runuser", "-u", "dovetail", "--", "dovetail", "live", "doctor", "--config", CONFIG)
    said = machine.run(*words, check=False).stdout
    assert "0 problems" in said, said
    assert "rights: dovetail is Operator" in said


def test_its_folders_are_its_own(machine: Machine) -> None:
    said = machine.run("stat", "-c", "%U %a", "/run/dovetail", "/var/lib/dovetail").stdout
    assert said.splitlines() == ["dovetail 750", "dovetail 750"]


def test_after_kill_9_systemd_gives_every_job_back_and_starts_it_again(machine: Machine) -> None:
    go_active(machine)
    first = main_process(machine)
    machine.run("kill", "-9", str(first))
    machine.wait_until(lambda: all_restored(machine) or main_process(machine) not in (0, first))
    machine.wait_until(lambda: "put back" in machine.log(UNIT))  # said after it is done
    machine.wait_until(lambda: machine.shows(UNIT, "NRestarts") == "1", 60)
    machine.wait_until(lambda: machine.shows(UNIT, "ActiveState") == "active", 60)


def test_a_daemon_that_hangs_is_ended_by_the_watchdog(machine: Machine) -> None:
    machine.write(DROP_IN, f"{QUICK}WatchdogSec=20\n")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "restart", UNIT, timeout=400)
    machine.wait_until(lambda: "3 wait" in machine.shows(UNIT, "StatusText"), COMPILING)
    first = main_process(machine)
    machine.run("kill", "-STOP", str(first))
    machine.wait_until(lambda: main_process(machine) not in (0, first), 60)
    assert "watchdog timeout" in machine.log(UNIT).lower()


def test_reload_keeps_it_running_with_its_new_settings(machine: Machine) -> None:
    first = main_process(machine)
    machine.write(CONFIG, SETTINGS.replace("2.0", "3.0"))
    machine.run("systemctl", "reload", UNIT)
    assert (machine.shows(UNIT, "ActiveState"), main_process(machine)) == ("active", first)


def test_stop_leaves_slurm_as_it_was(machine: Machine) -> None:
    go_active(machine)
    machine.run("systemctl", "stop", UNIT)
    assert machine.shows(UNIT, "Result") == "success"
    assert all_restored(machine)
    machine.run("systemctl", "start", UNIT, timeout=400)
    assert machine.shows(UNIT, "ActiveState") == "active"
