"""Starts, asks and ends a systemd of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

PATH = "/opt/dovetail/bin:/usr/sbin:/usr/bin:/sbin:/bin"
HIDDEN = ("/home", "/root", "/run", "/tmp", "/var/tmp")
SYSTEMD = Path("/lib/systemd/systemd")
APART = ("--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--propagation", "private")
LAUNCHER = """#!/bin/sh
export LD_LIBRARY_PATH={home}/lib PYTHONPATH={path} PYTHONDONTWRITEBYTECODE=1
exec {home}/bin/python3 -P -c 'import sys; from dovetail.cli import main; sys.exit(main())' "$@"
"""


def why_no_machine() -> str | None:
    """Why no systemd can be started here, or None when one can."""
    if os.geteuid() != 0:
        return "only root can start a systemd of its own"
    if not SYSTEMD.exists():
        return "no systemd here; on Debian: apt install systemd"
    missing = [name for name in ("unshare", "nsenter", "setpriv", "ip") if not shutil.which(name)]
    if missing:
        return f"no {', '.join(missing)} here; on Debian: apt install util-linux iproute2"
    if _group_folder() is None:
        return "no cgroup2 file system here, without which systemd does not start"
    return None


def _group_folder() -> Path | None:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        if after.split()[0] == "cgroup2" and "rw" in before.split()[5].split(","):
            return Path(before.split()[4])
    return None


class Machine:
    """What is installed here, with this checkout's program, and a network of its own."""

    def __init__(self) -> None:
        self._places = {folder: _place(folder, number) for number, folder in enumerate(_imports())}

    def __enter__(self) -> Machine:
        self._work = Path(tempfile.mkdtemp(prefix="dovetail-systemd-"))
        groups = _group_folder()
        assert groups is not None
        self._group = groups / self._work.name
        self._group.mkdir()
        boot = [sys.executable, str(Path(__file__).with_name("boot.py")), str(self._work)]
        words = ["unshare", "--fork", "--kill-child", *APART, *boot]
        words += [f"{folder}={place}" for folder, place in self._places.items() if place != folder]
        enter = f'echo $$ >"{self._group}/cgroup.procs" && exec setpriv --pdeathsig KILL "$@"'
        self._process = subprocess.Popen(
            ["sh", "-c", enter, "sh", *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        try:
            self.wait_until(self._booted, 60)
            self._install()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def run(
        self, *words: str, check: bool = True, stdin: str = "", timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Run a program there, as root."""
        enter = ["nsenter", f"--target={self._first()}", "--all", "--root", "--wd"]
        clean = ["env", "-i", "LC_ALL=C.UTF-8", "HOME=/root", f"PATH={PATH}"]
        done = subprocess.run(
            [*enter, *clean, *words], input=stdin, capture_output=True, text=True, timeout=timeout
        )
        if check and done.returncode:
            said = (done.stdout + done.stderr)[-3000:]
            if words[0] == "systemctl":
                said += self.log(words[-1])
            raise AssertionError(f"{' '.join(words)} ended with {done.returncode}: {said}")
        return done

    def write(self, path: str, text: str, mode: str = "644", owner: str = "root") -> None:
        self.run("sh", "-c", 'mkdir -p "$(dirname "$0")" && cat >"$0"', path, stdin=text)
        self.run("chmod", mode, path)
        self.run("chown", owner, path)

    def shows(self, unit: str, name: str) -> str:
        """One property of a unit, as `systemctl show` has it."""
        return self.run("systemctl", "show", "--value", "-p", name, unit).stdout.strip()

    def log(self, unit: str, lines: int = 40) -> str:
        return self.run("journalctl", "--no-pager", "-n", str(lines), "-u", unit).stdout

    def wait_until(self, holds: Callable[[], bool], timeout: float = 30) -> None:
        until = time.monotonic() + timeout
        while not holds():
            if self._process.poll() is not None:
                assert self._process.stderr is not None
                raise AssertionError(f"systemd ended: {self._process.stderr.read().decode()}")
            if time.monotonic() > until:
                raise AssertionError(f"not within {timeout:g} s\n{self._circumstances()}")
            time.sleep(0.1)

    def _booted(self) -> bool:
        if not self._first() or Path(f"/proc/{self._first()}/comm").read_text() != "systemd\n":
            return False
        said = self.run("systemctl", "is-system-running", check=False).stdout.strip()
        return said in ("running", "degraded")

    def _first(self) -> int:
        """The number out here of what is process 1 in there; 0 as long as there is none."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        return int((children.read_text().split() or ["0"])[0])

    def _install(self) -> None:
        """This Python and its packages, at a place that a service may look at."""
        home, *path = map(str, self._places.values())
        launcher = LAUNCHER.format(home=home, path=os.pathsep.join(path))
        self.write("/opt/dovetail/bin/dovetail", launcher, mode="755")

    def _circumstances(self) -> str:
        words: Sequence[Sequence[str]] = (
            ("systemctl", "list-units", "--no-pager", "--failed"),
            ("journalctl", "--no-pager", "-n", "40"),
        )
        return "\n".join(self.run(*each, check=False).stdout for each in words)

    def _end(self) -> None:
        first = self._first() if self._process.poll() is None else 0
        if first:
            os.kill(first, signal.SIGKILL)  # and with it all that it has started
        self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        self._remove_groups()
        self._work.rmdir()

    def _remove_groups(self) -> None:
        until = time.monotonic() + 10
        while self._group.exists():
            try:
                for folder, _, _ in os.walk(self._group, topdown=False):
                    os.rmdir(folder)
            except OSError:  # the last of its processes is still on its way out
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)


def _place(folder: Path, number: int) -> Path:
    """Where it is seen by a service, which looks neither into homes nor into our /tmp."""
    hidden = any(folder.is_relative_to(place) for place in HIDDEN)
    if hidden or folder.stat().st_dev != Path("/").stat().st_dev:
        return Path(f"/opt/dovetail/{number}")
    return folder


def _imports() -> Iterator[Path]:
    """This Python's home, then what it imports from, wherever that is."""
    yield Path(sys.base_prefix)
    inside = Path(sys.base_prefix).resolve()
    for entry in dict.fromkeys(sys.path):
        folder = Path(entry).resolve()
        if entry and folder.is_dir() and not folder.is_relative_to(inside):
            yield folder
