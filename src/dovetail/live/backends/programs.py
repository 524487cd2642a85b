"""Slurm's programs, run without a shell and never for longer than allowed.

programs = Programs.of(config.slurm)
answer = programs.ask("scontrol", "ping")
answer.code, answer.out, answer.err
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import NamedTuple

from dovetail.live.config import SlurmConfig

NOT_FOUND, TOO_LATE = 127, 124
"""Codes of programs that could not be run, and that took too long; as a shell has them."""


class Answer(NamedTuple):
    code: int
    out: str = ""
    err: str = ""

    @property
    def good(self) -> bool:
        return self.code == 0


@dataclass(frozen=True, slots=True)
class Programs:
    """Where the programs are, and which cluster they talk to."""

    folder: str = ""  # empty: PATH
    conf: str = ""  # empty: the environment's
    timeout: float = 30.0

    @classmethod
    def of(cls, config: SlurmConfig) -> Programs:
        return cls(config.bin, config.conf, config.timeout)

    def where(self, name: str) -> str | None:
        """The program's path."""
        return shutil.which(name, path=self.folder or None)

    def ask(self, name: str, *words: str) -> Answer:
        """Run one program to its end; text that is not UTF-8 is kept readable."""
        path = self.where(name)
        if path is None:
            return Answer(NOT_FOUND, err=f"{name}: not found")
        try:
            done = subprocess.run(
                [path, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=self.timeout,
                env=self._environment(),
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Answer(TOO_LATE, err=f"{name}: no answer within {self.timeout:g} s")
        except OSError as problem:
            return Answer(NOT_FOUND, err=f"{path}: {problem.strerror}")
        return Answer(done.returncode, done.stdout, done.stderr.strip())

    def _environment(self) -> dict[str, str]:
        ours = {"LC_ALL": "C.UTF-8"}  # messages as they are known
        return os.environ | ours | ({"SLURM_CONF": self.conf} if self.conf else {})
