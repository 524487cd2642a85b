"""Parent of all processes of a cluster, which ends them whatever becomes of the test.

It runs as a process of its own and is the "subreaper" of its descendants: daemons, job steps
and the jobs' own processes, even those that went into the background, come to it when their
parent dies. When its standard input closes (the test ended, crashed or was killed), or the
process that started it is gone, it kills them all and removes the cluster's folder.

Requests and answers are lines of JSON: {"do": "start", "argv": [...], "env": {...}, "log": "..."}
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LOOK_EVERY_S = 0.5


class Keeper:
    def __init__(self, parent: int) -> None:
        self._parent = parent
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._codes: dict[int, int | None] = {}
        self._remove: list[str] = []

    def serve(self) -> None:
        """Answer requests until told to end, or until nobody is left to ask."""
        try:
            for request in self._requests():
                answer = self._answer(request)
                print(json.dumps(answer), flush=True)
                if request["do"] == "end":
                    return
        except BrokenPipeError:
            pass
        finally:
            self._end()

    def _requests(self) -> Iterator[dict[str, Any]]:
        unread = b""
        while os.getppid() == self._parent:
            ready, _, _ = select.select([0], [], [], LOOK_EVERY_S)
            self._reap()
            if not ready:
                continue
            some = os.read(0, 1 << 16)
            if not some:
                return
            *lines, unread = (unread + some).split(b"\n")
            for line in lines:
                yield json.loads(line)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        match request["do"]:
            case "start":
                return {"pid": self._start(request["argv"], request["env"], request["log"])}
            case "status":
                self._reap()
                return {"code": self._codes.get(request["pid"])}
            case "signal":
                self._reap()
                if self._codes.get(request["pid"], 0) is None:
                    os.kill(request["pid"], request["signal"])
                return {}
            case "remove":
                self._remove.extend(request["paths"])
                return {}
            case "end":
                return {"killed": self._end()}
            case other:
                return {"error": f"unknown request {other!r}"}

    def _start(self, argv: list[str], env: dict[str, str], log: str) -> int:
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                self._libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
                out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(out, 1)
                os.dup2(out, 2)
                os.execvpe(argv[0], argv, env)
            except OSError as problem:
                os.write(2, f"{argv[0]}: {problem}\n".encode())
            finally:
                os._exit(127)
        self._codes[pid] = None
        return pid

    def _reap(self) -> bool:
        """Collect what has ended; whether children are left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid in self._codes:
                self._codes[pid] = os.waitstatus_to_exitcode(status)

    def _end(self) -> int:
        # At once and for all: nothing that a daemon would save on the way outlives the folder,
        # and a slurmd without its controller answers SIGTERM only after a while.
        killed: set[int] = set()
        while self._reap():
            for pid in descendants(os.getpid()):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.add(pid)
            time.sleep(0.01)
        for path in self._remove:
            if Path(path).is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                Path(path).unlink(missing_ok=True)
        return len(killed)


def descendants(ancestor: int) -> list[int]:
    """All living processes below `ancestor`."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                after_name = (folder / "stat").read_text().rpartition(")")[2].split()
                children.setdefault(int(after_name[1]), []).append(int(folder.name))
    found, ahead = [], [ancestor]
    while ahead:
        below = children.get(ahead.pop(), [])
        found += below
        ahead += below
    return found


if __name__ == "__main__":
    for stop_signal in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop_signal, lambda *_: sys.exit(1))
    Keeper(parent=int(sys.argv[1])).serve()
