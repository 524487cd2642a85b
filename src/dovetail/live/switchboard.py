"""What an operator and the hooks use to reach a running daemon: small files in one folder.

    board = Switchboard(Path("/run/dovetail"))
    board.ask_for(Mode.ACTIVE, "ada")          # dovetail live mode active
    board.wait(60.0)                           # the daemon: until woken, or the time is up
    board.stopped                              # the kill switch: a file named `stop`

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
from dovetail.live.modes import Mode

WAKE, MODE, STOP, STATUS = "wake", "mode", "stop", "status.json"


class Switchboard:
    """The folder, from either side."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pipe: int | None = None

    # -- the daemon's side

    def open(self) -> None:
        """Make the folder and the pipe, and refuse a folder that strangers may write."""
        self.folder.mkdir(mode=0o750, parents=True, exist_ok=True)
        status = self.folder.stat()
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or status.st_uid not in (
            0,
            os.geteuid(),
        ):
            raise ConfigError(
                f"{self.folder}: others may write it, and who may commands the daemon; "
                f"chmod 750 {self.folder}, and chown it to the daemon's user"
            )
        path = self.folder / WAKE
        if not path.is_fifo():
            path.unlink(missing_ok=True)
            os.mkfifo(path, 0o660)
            path.chmod(0o660)  # whatever the umask: slurmctld's hooks write it, by group
        # Read and write: the pipe then never ends, however many writers come and go.
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)

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
        try:
            os.stat(self.folder / STOP)
        except FileNotFoundError:
            # A folder that is gone says nothing; only one that is there can be without the file.
            return not self.folder.is_dir()
        except OSError:
            return True
        return True

    def asked_mode(self) -> Mode | None:
        """The mode that was asked for last; None: none, or not in words that we know."""
        try:
            return Mode((self.folder / MODE).read_text().split()[0])
        except (OSError, ValueError, IndexError, UnicodeDecodeError):
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
                f"{self.folder}: cannot ask for mode {mode.value} ({error.strerror}); "
                "run as the daemon's user or root, with the daemon's --config"
            ) from None
        self.wake()

    def wake(self) -> bool:
        """Start a cycle now; False: no daemon listens."""
        try:
            fd = os.open(self.folder / WAKE, os.O_WRONLY | os.O_NONBLOCK)
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
            said = json.loads((self.folder / STATUS).read_text())
        except (OSError, ValueError):
            return None
        return said if isinstance(said, dict) else None

    def _write(self, name: str, text: str) -> None:
        """Whole or not at all, whoever reads meanwhile."""
        partial = self.folder / f".{name}.{os.getpid()}"
        partial.write_text(text)
        partial.replace(self.folder / name)
