"""Dovetail on a throw-away cluster: the controller in this process, or the daemon in its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from dovetail.live.backends import BACKENDS
from dovetail.live.config import (
    ActConfig,
    GuardrailConfig,
    JournalConfig,
    LiveConfig,
    MetricsConfig,
    SlurmConfig,
)
from dovetail.live.cycle.controller import LiveController
from dovetail.live.journal import Journal
from dovetail.live.model.mode import Mode
from tests.live.slurm import Cluster


def config_for(cluster: Cluster, folder: Path, **more: Any) -> LiveConfig:
    """A configuration that writes into the folder only; `more` replaces parts of it."""
    base = LiveConfig(
        policy="sjf",
        period=1.0,
        min_period=0.1,
        run_dir=str(folder / "run"),
        slurm=SlurmConfig(conf=str(cluster.layout.slurm_conf), timeout=15.0),
        act=ActConfig(),
        # Tests replace whole queues and nodes within seconds.
        guardrails=GuardrailConfig(vanished_jobs=10_000, nodes_share=1.1, clock_jump=1e6),
        journal=JournalConfig(path=str(folder / "journal.sqlite")),
        metrics=MetricsConfig(port=0),
    )
    return replace(base, **more)


@contextmanager
def steering(
    cluster: Cluster, folder: Path, mode: Mode = Mode.ACTIVE, **more: Any
) -> Iterator[LiveController]:
    """A controller in this process, in the given mode; it leaves active mode at the end."""
    config = config_for(cluster, folder, **more)
    with Journal.open(config.journal) as journal:
        backend = BACKENDS[config.slurm.backend](config.slurm)
        controller = LiveController(config, backend, journal)
        controller.enter(mode, "a test wants it")
        yield controller
        if controller.mode is Mode.ACTIVE:
            controller.leave("the test ends")


class Running:
    """A daemon in its own process."""

    def __init__(
        self,
        cluster: Cluster,
        config: Path,
        log: Path,
        program: Sequence[str] = ("-m", "dovetail.cli"),
        more: Mapping[str, str] | None = None,
    ) -> None:
        """`program` is what Python runs, `more` goes into its environment."""
        self.config, self._log = config, log
        self._cluster, self._program, self._more = cluster, program, more or {}
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, *self._program, "live", "--config", str(self.config)],
                env={**self._cluster.env, **PATHS, **self._more},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def again(self) -> None:
        """Start it anew, as systemd would."""
        self._process = self._start()

    @property
    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def wait_for(self, words: str, times: int = 1, timeout: float = 60.0) -> None:
        """Until it has said so, so often."""
        until = time.monotonic() + timeout
        while self.said.count(words) < times:
            if self._process.poll() is not None:
                raise AssertionError(f"the daemon ended:\n{self.said}")
            if time.monotonic() > until:
                raise AssertionError(f"the daemon never said {words!r}:\n{self.said}")
            time.sleep(0.05)

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        """SIGKILL, for it and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self, timeout: float = 60.0) -> int:
        self._process.terminate()
        return self._process.wait(timeout)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def code(self) -> int:
        """How it ended."""
        return self._process.wait()

    def command(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """`dovetail live ...` as an operator would type it."""
        argv = [sys.executable, "-m", "dovetail.cli", "live", *words, "--config", str(self.config)]
        done = subprocess.run(
            argv, env={**self._cluster.env, **PATHS}, capture_output=True, text=True, timeout=120
        )
        if check and done.returncode != 0:
            raise AssertionError(f"{words} ended with {done.returncode}: {done.stderr}")
        return done


PATHS = {
    name: os.environ[name]
    for name in ("PYTHONPATH", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "PATH")
    if name in os.environ
}


def write_config(config: LiveConfig, path: Path) -> Path:
    """The configuration as a file that the daemon accepts."""
    lines = [f'mode = "{config.mode.value}"']
    tables: list[str] = []
    for name, value in _items(config):
        if name == "mode":
            continue
        if hasattr(value, "__dataclass_fields__"):
            tables += [f"[{name}]", *(f"{key} = {_toml(each)}" for key, each in _items(value))]
        else:
            lines.append(f"{name} = {_toml(value)}")
    path.write_text("\n".join([*lines, *tables]) + "\n")
    path.chmod(0o600)
    return path


def _items(part: Any) -> list[tuple[str, Any]]:
    return [(name, getattr(part, name)) for name in part.__dataclass_fields__]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return repr(value)


@contextmanager
def running(cluster: Cluster, folder: Path, **more: Any) -> Iterator[Running]:
    """A daemon until the end of the block, gone then whatever happened."""
    config = write_config(config_for(cluster, folder, **more), folder / "dovetail.toml")
    daemon = Running(cluster, config, folder / "daemon.log")
    try:
        yield daemon
    finally:
        daemon.kill()


def until(truth: Callable[[], bool], what: str, timeout: float = 60.0) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + timeout
    while not truth():
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout:g} s: {what}")
        time.sleep(0.1)
