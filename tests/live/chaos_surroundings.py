"""Faults of what surrounds the daemon: its programs, its rights, its journal, its folders.

Slurm's programs are reached through wrappers that do what the files beside them say: a squeue that
prints garbage and ends with 0, a scontrol that runs as a user without rights, whom the real Slurm
then refuses.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

NOBODY = 65_534
PROGRAMS = ("squeue", "sprio", "scontrol", "sshare", "sacctmgr", "sinfo", "sdiag")
GARBAGE = ("", "Segmentation fault", "\x00\x01\xff", "<html>502</html>", "JOBID\n7 7")
PRECIOUS = "nobody may write this"

_WRAPPER = """#!/bin/sh
if [ -e {folder}/garbage.{name} ]; then cat {folder}/garbage.{name}; exit 0; fi
if [ -e {folder}/denied ]; then
    exec setpriv --reuid={nobody} --regid={nobody} --clear-groups {program} "$@"
fi
exec {program} "$@"
"""


class Surroundings:
    """The wrappers, and a file that links are planted to."""

    def __init__(self, folder: Path, draw: random.Random) -> None:
        self.folder, self._draw = folder / "bin", draw
        self.folder.mkdir(mode=0o755)
        self.victim = folder / "precious"
        self.victim.write_text(PRECIOUS)
        for name in PROGRAMS:
            program = shutil.which(name)
            if program is not None:
                path = self.folder / name
                text = _WRAPPER.format(
                    folder=self.folder, name=name, program=program, nobody=NOBODY
                )
                path.write_text(text)
                path.chmod(0o755)

    def begin_garbage(self) -> Path:
        """One program talks nonsense and ends with 0, until the file is taken away."""
        name = self._draw.choice(("squeue", "sprio"))
        path = self.folder / f"garbage.{name}"
        path.write_text(self._draw.choice(GARBAGE))
        return path

    def begin_denial(self) -> Path:
        path = self.folder / "denied"
        path.touch()
        return path

    def plant_links(self, run_dir: Path) -> None:
        """What another account could leave where the daemon writes: links to what is not its."""
        for name in ("status.json", "first_factors", f".status.json.{os.getpid()}"):
            part = run_dir / f"{name}.planted"
            part.symlink_to(self.victim)
            os.lchown(part, NOBODY, NOBODY)
            part.replace(run_dir / name)

    def check(self) -> None:
        assert self.victim.read_text() == PRECIOUS
