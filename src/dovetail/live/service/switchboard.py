"""What an operator and the hooks use to reach a running daemon: small files in one folder.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     board = Switchboard(Path(folder) / "run")
...     board.open()
...     board.ask_for(Mode.ACTIVE, "ada")  # dovetail live mode active
...     woken = board.wait(60.0)  # the daemon: until woken, or the time is up
...     asked, stopped = board.asked_mode(), board.stopped  # a file named `stop` is the switch
...     board.close()
>>> woken, asked, stopped
(True, <Mode.ACTIVE: 'active'>, False)

Whoever may write the folder commands the daemon, so that it must belong to root or to the daemon
and be closed to others. Nothing in it is needed to undo anything: that is the journal's part.
"""

from __future__ import annotations

import json
import os
import select
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dovetail.domain.errors import ConfigError
from dovetail.files import Folder, Untrusted
from dovetail.live.model.mode import Mode

WAKE, MODE, STOP, STATUS = "wake", "mode", "stop", "status.json"


class Switchboard:
    """The folder, from either side."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pipe: int | None = None

    # -- the daemon's side

    def open(self) -> None:
        """Make the folder and the pipe, and refuse a folder that strangers may write."""
        try:
            with Folder.make(self.folder, 0o750) as folder:
                self._pipe = _open_pipe(folder)
        except Untrusted as problem:
            raise ConfigError(
                f"{problem}: whoever can write it commands the daemon; "
                f"chmod 750 {self.folder}, and chown it to the daemon's user"
            ) from None
        except OSError as problem:
            raise ConfigError(
                f"{self.folder}: cannot be used as run folder: {problem.strerror}; "
                "make it, or set run_dir"
            ) from None

    def close(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None

    def wait(self, seconds: float, also: int | None = None) -> bool:
        """Sleep until somebody wakes the daemon, or `also` can be read; False: time is up."""
        watched = [fd for fd in (self._pipe, also) if fd is not None]
        ready, _, _ = select.select(watched, [], [], max(0.0, seconds))
        for fd in ready:
            self._drain(fd)
        return bool(ready)

    @staticmethod
    def _drain(fd: int) -> None:
        try:
            while len(os.read(fd, 4096)) == 4096:
                pass
        except BlockingIOError:
            pass

    @property
    def stopped(self) -> bool:
        """Whether the kill switch is on; a folder that cannot be read counts as on."""
        # A folder that is gone says nothing; only one that is there can be without the file.
        return bool(self.lost) or os.path.lexists(self.folder / STOP)

    @property
    def lost(self) -> str:
        """Why the folder says nothing, and what to do; empty: it can be looked into."""
        try:
            os.stat(self.folder / STOP)
        except FileNotFoundError:
            if self.folder.is_dir():
                return ""
            return (
                f"{self.folder}: there is no such run folder; start the daemon, which makes it, or "
                "give the daemon's --config"
            )
        except OSError as problem:
            return (
                f"{self.folder}: the run folder cannot be looked into ({problem.strerror}); run as "
                "the daemon's user or root, with the daemon's --config"
            )
        return ""

    def asked_mode(self) -> Mode | None:
        """The mode that was asked for last; None: none, or not in words that we know."""
        try:
            return Mode(self._read(MODE).decode().split()[0])
        except (OSError, ValueError, IndexError):
            return None

    def tell(self, status: Mapping[str, Any]) -> None:
        """Leave word for `dovetail live status`; not vital, and so never an error."""
        with suppress(OSError):
            self._write(STATUS, json.dumps(status, allow_nan=True))

    # -- the operator's side

    def ask_for(self, mode: Mode, who: str) -> None:
        """Ask for a mode; the daemon takes it up at once if it runs, or when it starts."""
        try:
            self._write(MODE, f"{mode.value} {who}\n")
        except OSError as error:
            raise ConfigError(
                f"{self.folder}: cannot ask for mode {mode.value} ({error.strerror or error}); "
                "run as the daemon's user or root, with the daemon's --config"
            ) from None
        self.wake()

    def wake(self) -> bool:
        """Start a cycle now; False: no daemon listens."""
        try:
            fd = os.open(self.folder / WAKE, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            os.write(fd, b"!")
        except BlockingIOError:
            pass  # full of calls already
        finally:
            os.close(fd)
        return True

    def status(self) -> dict[str, Any] | None:
        """What the daemon said last; None: nothing."""
        try:
            said = json.loads(self._read(STATUS))
        except PermissionError as problem:
            raise ConfigError(
                f"{self.folder}: {problem.strerror or problem}; "
                "run as the daemon's user or root, with the daemon's --config"
            ) from None
        except (OSError, ValueError):
            return None
        return said if isinstance(said, dict) else None

    def _read(self, name: str) -> bytes:
        """Whoever asks: what nobody but the daemon and root can have written."""
        with Folder.of_its_owner(self.folder) as folder:
            return folder.read(name)

    def _write(self, name: str, text: str) -> None:
        """Whole or not at all, whoever reads meanwhile."""
        with Folder.open(self.folder) as folder:
            folder.write(name, text.encode())


def _open_pipe(folder: Folder) -> int:
    """The pipe that hooks and operators write; made anew where something else has its name."""
    status = folder.status(WAKE)
    if status is None or not stat.S_ISFIFO(status.st_mode):
        folder.remove(WAKE)
        os.mkfifo(WAKE, 0o660, dir_fd=folder.descriptor)
    # Read and write: the pipe then never ends, however many writers come and go.
    pipe = os.open(
        WAKE, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder.descriptor
    )
    if os.fstat(pipe).st_uid == os.geteuid():
        os.fchmod(pipe, 0o660)  # whatever the umask: slurmctld's hooks write it, by group
    return pipe
