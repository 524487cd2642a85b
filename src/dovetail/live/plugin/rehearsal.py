"""Loads the plug-in into a throw-away slurmctld before it comes near the real one.

A controller of its own in a temporary folder, on loopback, with one node that does not exist: jobs
are submitted and wait. It must give them the factors of a table, leave an operator's alone, take a
damaged table for none, read its configuration again, and end in good order. A plug-in of another
version crashes here instead of there.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dovetail.live.plugin.build import NAME, PluginRefused, run, which
from dovetail.live.plugin.table import FactorRow, FactorTable, write_table

FIRST_JOB = 4711
PATIENCE = 30.0
"""Seconds for anything that takes a moment on a healthy machine."""


def rehearse(plugin: Path, plugin_folders: Sequence[str], programs: str = "") -> str:
    """What was tried, in a sentence; PluginRefused with the controller's words where it failed.

    plugin_folders: of Slurm's own plug-ins; programs: folder of its programs, by default PATH.
    """
    with tempfile.TemporaryDirectory(prefix="dovetail-rehearsal-") as name:
        folder = Path(name)
        own = folder / "plugins"
        own.mkdir()
        shutil.copy(plugin, own / NAME)
        with _Stage(folder, [*plugin_folders, str(own)], programs).open() as stage:
            _play(stage)
    return (
        "a throw-away slurmctld loaded it, gave jobs their factors, left an operator's alone, "
        "took a damaged table for none and ended in good order"
    )


def _play(stage: _Stage) -> None:
    stage.write({FIRST_JOB: 777, FIRST_JOB + 2: -60}, default=55)
    stage.wait("the table", lambda: "is in use" in stage.log())
    row, new = stage.submit(), stage.submit()
    stage.expect({row: 777, new: 55}, "a job with a row and one without")
    third = stage.submit()
    stage.expect({third: -60}, "a factor below 0")
    stage.control("update", f"jobid={row}", "sitefactor=4242")
    stage.control("hold", str(row))
    stage.control("release", str(row))
    stage.expect({row: 4242}, "a factor that an operator has set")
    stage.table.write_bytes(stage.table.read_bytes()[:-1] + b"?")
    stage.wait("the damaged table", lambda: "checksum is wrong" in stage.log())
    stage.expect({stage.submit(): 0}, "a new job and a damaged table")
    stage.control("reconfigure")
    stage.wait("an answer after reconfigure", stage.answers)
    stage.expect({stage.submit(): 0, row: 4242}, "jobs after reconfigure")


class _Stage:
    """The controller of one rehearsal."""

    def __init__(self, folder: Path, plugin_folders: Sequence[str], programs: str) -> None:
        self._folder, self._programs = folder, programs
        self.table = folder / "factors"
        self._log = folder / "slurmctld.log"
        conf = folder / "slurm.conf"
        conf.write_text(_conf(folder, self._log, self.table, plugin_folders))
        # From 23.11 on; older ones do not look for it unless they use cgroups.
        (folder / "cgroup.conf").write_text("")
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self._env = kept | {"SLURM_CONF": str(conf), "LC_ALL": "C"}

    @contextmanager
    def open(self) -> Iterator[_Stage]:
        with (self._folder / "printed").open("wb") as printed:
            process = subprocess.Popen(
                [self._program("slurmctld"), "-D"],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                env=self._env,
                start_new_session=True,
            )
        try:
            self._process = process
            self.wait("slurmctld", self.answers)
            yield self
            process.terminate()
            self.wait("its end", lambda: process.poll() is not None)
            if process.returncode:
                raise self._failure(f"it ended with {process.returncode}")
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()

    def write(self, factors: dict[int, int], default: int) -> None:
        rows = [FactorRow(job, factor) for job, factor in factors.items()]
        write_table(self.table, FactorTable(rows, int(time.time()), 3600, default))

    def submit(self) -> int:
        words = ["--parsable", "--output=/dev/null", "--chdir=/", "--wrap=true"]
        return int(self._run("sbatch", *words).partition(";")[0])

    def control(self, *words: str) -> None:
        self._run("scontrol", *words)

    def expect(self, factors: dict[int, int], what: str) -> None:
        self.wait(what, lambda: factors.items() <= self._factors().items())

    def answers(self) -> bool:
        try:
            return " is UP" in self._run("scontrol", "ping")
        except PluginRefused:
            return False

    def log(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def wait(self, what: str, holds: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE
        while not holds():
            if self._process.poll() not in (None, 0):
                raise self._failure(f"slurmctld died with {self._process.returncode} over {what}")
            if time.monotonic() > until:
                raise self._failure(f"{what}: not as it should be within {PATIENCE:g} s")
            time.sleep(0.1)

    def _factors(self) -> dict[int, int]:
        rows = self._run("sprio", "-h", "-o", "%i %S").splitlines()
        return {int(job): int(site) for job, site in map(str.split, rows)}

    def _run(self, program: str, *words: str) -> str:
        return run([self._program(program), *words], f"{program} {words[0]}", self._env)

    def _program(self, name: str) -> str:
        return f"{self._programs}/{name}" if self._programs else which(name)

    def _failure(self, what: str) -> PluginRefused:
        printed = (self._folder / "printed").read_text(errors="replace")
        said = "\n".join((self.log() + printed).splitlines()[-15:])
        return PluginRefused(
            f"the rehearsal failed, and the plug-in is not installed: {what}. Its log:\n{said}"
        )


def _conf(folder: Path, log: Path, table: Path, plugin_folders: Sequence[str]) -> str:
    host = socket.gethostname().split(".")[0]
    for name in ("state", "spool"):
        (folder / name).mkdir()
    # Its jobs never run, and it listens on loopback only: nobody needs to prove who he is.
    lines = {
        "ClusterName": "rehearsal",
        "SlurmctldHost": f"{host}(127.0.0.1)",
        "SlurmctldPort": _free_port(),
        "SlurmdPort": _free_port(),
        "CommunicationParameters": "NoInAddrAny,NoCtldInAddrAny",
        "SlurmUser": getpass.getuser(),
        "AuthType": "auth/none",
        "CredType": "cred/none",
        "StateSaveLocation": folder / "state",
        "SlurmdSpoolDir": folder / "spool",
        "SlurmctldPidFile": folder / "slurmctld.pid",
        "SlurmctldLogFile": log,
        "MailProg": "/bin/true",
        "MpiDefault": "none",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "SchedulerType": "sched/backfill",
        "SelectType": "select/cons_tres",
        "PriorityType": "priority/multifactor",
        "PriorityCalcPeriod": 1,
        "FirstJobId": FIRST_JOB,
        "PluginDir": ":".join(plugin_folders),
        "PrioritySiteFactorPlugin": "site_factor/dovetail",
        "PrioritySiteFactorParameters": f"table={table}",
        "NodeName": f"none NodeAddr=127.0.0.1 Port={_free_port()} CPUs=1 State=DOWN",
        "PartitionName": "all Nodes=ALL Default=YES State=UP",
    }
    return "".join(f"{name}={value}\n" for name, value in lines.items())


def _free_port() -> int:
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        port: int = each.getsockname()[1]
        return port
