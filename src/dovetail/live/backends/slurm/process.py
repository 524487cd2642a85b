"""Slurm's programs as child processes: no shell, a time limit, an end for all they started."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from dovetail.live.backends.base import Unreachable, Unreadable
from dovetail.live.config import SlurmConfig

MAX_OUTPUT = 512 * 2**20
"""Bytes; a queue of 10,000 jobs takes 4 MB as text and 35 MB as JSON."""

_CHUNK = 2**20
_PAUSE = 0.01
# A clock that runs faster is loaded through LD_PRELOAD and told its pace by FAKETIME*.
_PASSED_ON = ("PATH", "HOME", "TZ", "SLURM_CONF", "LD_LIBRARY_PATH", "LD_PRELOAD")
_PASSED_PREFIX = "FAKETIME"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program left behind; `code` is None where it had to be ended."""

    output: bytes
    errors: str
    code: int | None

    @property
    def words(self) -> str:
        """Its complaint on one line, short enough for a message."""
        return " ".join(self.errors.split())[:300] or f"exit code {self.code}"

    @property
    def cause(self) -> str:
        """Why it failed, in its own words, and what to do."""
        said = first_complaint(self.errors) or f"exit code {self.code}"
        return f"{said}; {advice_on(self.errors)}"


class Commands:
    """Runs Slurm's programs; the only place of Dovetail that starts processes for Slurm."""

    def __init__(self, config: SlurmConfig) -> None:
        self._folder = config.bin
        self.timeout = config.timeout
        self._environment = environment(os.environ, config.conf)

    def ask(self, program: str, *words: str) -> str:
        """What the program prints; anything but a clean answer is an error."""
        answer = self.run(program, *words)
        if answer.code is not None and answer.code < 0:
            # A client now and then dies of SIGPIPE when the controller is busy.
            answer = self.run(program, *words)
        if answer.code is None:
            raise Unreachable(
                f"{program}: no answer within {self.timeout:g} s; is slurmctld overloaded? "
                "slurm.timeout gives it longer"
            )
        # squeue and sinfo can end with 0 although they never reached the controller.
        if answer.code != 0 or "error:" in answer.errors:
            raise Unreachable(f"{program}: {answer.cause}")
        return answer.output.decode("utf-8", "replace")

    def run(self, program: str, *words: str, stdin: str = "") -> Answer:
        """Run a program to its end or to the time limit."""
        path = str(Path(self._folder) / program) if self._folder else program
        try:
            child = subprocess.Popen(
                [path, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            )
        except OSError as error:
            raise Unreachable(
                f"{path}: {error.strerror}; set slurm.bin to the folder of Slurm's programs"
            ) from None
        with _ended(child):
            return _converse(child, program, stdin.encode(), time.monotonic() + self.timeout)


def first_complaint(text: str) -> str:
    """The first line of what a program said, or what ended it: the others tell how it got there.

    >>> first_complaint("scontrol: error: Unknown host\\nscontrol: fatal: no configuration source")
    'no configuration source'
    """
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    fatal = [line for line in lines if "fatal: " in line]
    line = (fatal or lines or [""])[0]
    return re.sub(r"^(\w+: )?(fatal|error): ", "", line)[:300]


def advice_on(text: str) -> str:
    """What to do about what a program said."""
    if "configuration source" in text:
        return "set slurm.conf in the configuration, or SLURM_CONF, to the cluster's slurm.conf"
    return "`scontrol ping` tells more"


def environment(ours: Mapping[str, str], conf: str) -> dict[str, str]:
    """What a client of Slurm needs, and nothing that would change what it prints."""
    kept = {
        name: value
        for name, value in ours.items()
        if name in _PASSED_ON or name.startswith(_PASSED_PREFIX)
    }
    # Task lists of arrays are cut off at 64 characters unless the length is 0.
    fixed = {"LC_ALL": "C", "SLURM_TIME_FORMAT": "%s", "SLURM_BITSTR_LEN": "0"}
    return kept | fixed | ({"SLURM_CONF": conf} if conf else {})


@contextlib.contextmanager
def _ended(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """End the child and all that it started, however the block is left."""
    try:
        yield
    finally:
        if child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        child.wait()


def _converse(child: subprocess.Popen[bytes], program: str, stdin: bytes, until: float) -> Answer:
    """Feed stdin and collect both outputs until they end, the time is over, or it is too much."""
    assert child.stdin is not None
    assert child.stdout is not None
    got: dict[Any, list[bytes]] = {child.stdout: [], child.stderr: []}
    size = 0
    with selectors.DefaultSelector() as selector, _exit_of(child) as ended:
        for pipe in got:
            selector.register(pipe, selectors.EVENT_READ)
        # The larger the pipe, the fewer turns: 4 MB took 20 ms of them with the usual 64 KiB.
        with contextlib.suppress(OSError):
            fcntl.fcntl(child.stdout, fcntl.F_SETPIPE_SZ, _CHUNK)
        rest = memoryview(stdin)
        os.set_blocking(child.stdin.fileno(), False)
        selector.register(child.stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            left = until - time.monotonic()
            if left <= 0:
                return _answer(child, got, None)
            before = size
            for key, _ in selector.select(left):
                if key.fileobj is child.stdin:
                    rest = _feed(child.stdin, rest)
                    if not rest:
                        selector.unregister(child.stdin)
                        with contextlib.suppress(BrokenPipeError):
                            child.stdin.close()
                    continue
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fileobj)
                size += len(chunk)
                got[key.fileobj].append(chunk)
            # Answers come a few KiB at a time, a script's complaints one by one. Woken by each, a
            # cycle on 10,000 jobs took 660 turns, and 1,000 changes nearly twice as long. What has
            # ended is not waited for: that made every question 10 to 20 ms longer.
            if size > before or rest:
                ended.poll(_PAUSE * 1000)
            if size > MAX_OUTPUT:
                raise Unreadable(f"{program}: more than {MAX_OUTPUT >> 20} MB of output")
    try:
        code = child.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return _answer(child, got, None)
    return _answer(child, got, code)


@contextlib.contextmanager
def _exit_of(child: subprocess.Popen[bytes]) -> Iterator[select.poll]:
    """What tells at once when the child has ended, as far as the system can."""
    ended = select.poll()
    try:
        descriptor = os.pidfd_open(child.pid)
    except OSError:  # before Linux 5.3
        yield ended
        return
    try:
        ended.register(descriptor, select.POLLIN)
        yield ended
    finally:
        os.close(descriptor)


def _feed(pipe: IO[bytes], rest: memoryview) -> memoryview:
    """Write what the pipe takes; nothing is left where nobody reads any more."""
    if not rest:
        return rest
    try:
        return rest[os.write(pipe.fileno(), rest[:_CHUNK]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[:0]


def _answer(
    child: subprocess.Popen[bytes], got: Mapping[Any, list[bytes]], code: int | None
) -> Answer:
    errors = b"".join(got[child.stderr]).decode("utf-8", "replace")
    return Answer(b"".join(got[child.stdout]), errors, code)
