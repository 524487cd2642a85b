"""Starting, stopping, killing and freezing single daemons of the cluster."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.live.slurm.keeper import descendants

KEEPER = Path(__file__).with_name("keeper.py")


class SlurmProblem(RuntimeError):  # noqa: N818 - reads as what happened
    """The throw-away cluster did not do what it should; the message ends with its logs."""


class Kept:
    """Our end of the keeper (see keeper.py)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(KEEPER), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        atexit.register(self.end)

    def processes(self) -> list[int]:
        """All living processes of the cluster."""
        return descendants(self._process.pid)

    def ask(self, do: str, **details: Any) -> dict[str, Any]:
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        with self._lock:
            to.write(json.dumps({"do": do, **details}) + "\n")
            to.flush()
            answer: dict[str, Any] = json.loads(back.readline() or '{"error": "keeper is gone"}')
        if "error" in answer:
            raise SlurmProblem(answer["error"])
        return answer

    def end(self) -> None:
        """Kill every process of the cluster and remove what was to be removed."""
        atexit.unregister(self.end)
        if os.getpid() != self._owner:
            return  # a forked child that ends must not take the cluster with it
        if self._process.poll() is None:
            self.ask("end")
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


class Daemon:
    """One daemon: `stop` asks it to go, `kill` does not ask, `pause` freezes it."""

    def __init__(
        self,
        kept: Kept,
        argv: Sequence[str],
        env: dict[str, str],
        log: Path,
        ready: Callable[[], bool],
    ) -> None:
        self._kept, self._argv, self._env = kept, list(argv), env
        self._log, self._ready = log, ready
        self.pid = 0

    def start(self, timeout: float = 30) -> None:
        """Start it and wait until it answers."""
        self.launch()
        self.wait_ready(timeout)

    def launch(self) -> None:
        """Start it without waiting."""
        if self.alive():
            raise SlurmProblem(f"{self._argv[0]} runs already, as process {self.pid}")
        answer = self._kept.ask("start", argv=self._argv, env=self._env, log=str(self._log))
        self.pid = int(answer["pid"])

    def wait_ready(self, timeout: float = 30) -> None:
        until = time.monotonic() + timeout
        while not self._ready():
            if not self.alive() or time.monotonic() > until:
                raise SlurmProblem(f"{' '.join(self._argv)} did not start:\n{tail(self._log)}")
            time.sleep(0.01)

    def alive(self) -> bool:
        return bool(self.pid) and self._kept.ask("status", pid=self.pid)["code"] is None

    def stop(self, timeout: float = 20) -> None:
        """SIGTERM, and SIGKILL when that has not helped within `timeout` seconds."""
        self._signal(signal.SIGTERM)
        until = time.monotonic() + timeout
        while self.alive():
            if time.monotonic() > until:
                self.kill()
                return
            time.sleep(0.02)

    def kill(self) -> None:
        """SIGKILL: it saves nothing."""
        self._signal(signal.SIGKILL)
        while self.alive():
            time.sleep(0.01)

    def pause(self) -> None:
        """SIGSTOP: connections to it are accepted by the kernel and then hang."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        if not self.alive():
            raise SlurmProblem(f"{self._argv[0]} does not run")
        self._kept.ask("signal", pid=self.pid, signal=number)


def tail(log: Path, lines: int = 20) -> str:
    """The last lines of a log, for error messages."""
    try:
        text = log.read_text(errors="replace")
    except OSError as problem:
        return str(problem)
    return "\n".join(text.splitlines()[-lines:])
