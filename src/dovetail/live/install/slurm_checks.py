"""What can be asked of Slurm itself during an installation: its plug-ins, and what it reads."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable
from pathlib import Path

from dovetail.domain.errors import ConfigError
from dovetail.live.backends.base import BackendError
from dovetail.live.backends.slurm.process import Commands
from dovetail.live.config import SlurmConfig
from dovetail.live.install.plan import FileChange
from dovetail.slurm.conf import settings_of_conf
from dovetail.slurm.show import settings_of

USUAL = (
    "/usr/lib/*/slurm-wlm", "/usr/lib/slurm", "/usr/lib64/slurm", "/usr/lib/*/slurm",
    "/usr/local/lib/slurm", "/opt/slurm/lib/slurm", "/opt/slurm/*/lib/slurm",
)  # fmt: skip
"""Where packages and Slurm's own build put plug-ins, should nobody be there to ask."""


def plugin_folders(conf: Path) -> tuple[Path, ...]:
    """Where slurmctld looks for plug-ins: by its own word, by slurm.conf, else the usual places."""
    commands = Commands(SlurmConfig(conf=str(conf), timeout=15.0))
    try:
        answer = commands.run("scontrol", "show", "config")
        told = settings_of(answer.output.decode("utf-8", "replace")).get("PluginDir", "")
    except BackendError:
        told = ""
    named = [Path(each) for each in (told or _in_conf(conf)).split(":") if each]
    return tuple(named) or tuple(_usual())


def _in_conf(conf: Path) -> str:
    try:
        text = conf.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return settings_of_conf(text).get("plugindir", "")


def _usual() -> Iterable[Path]:
    return (Path(found) for pattern in USUAL for found in sorted(glob.glob(pattern)))


def read_by_slurm(conf: Path) -> Callable[[FileChange], str]:
    """A check of slurm.conf once it is written: Slurm's own client reads it, or it is undone.

    A setting that this version does not know, and a line that is none, end every program of
    Slurm's at once: better the check than slurmctld.
    """

    def check(change: FileChange) -> str:
        if change.path != conf:
            return ""
        try:
            answer = Commands(SlurmConfig(conf=str(change.target), timeout=15.0)).run(
                "scontrol", "ping"
            )
        except BackendError as problem:
            return f"not read by Slurm, as scontrol cannot be run here ({problem})"
        if "configuration file" in answer.errors and "fatal" in answer.errors:
            raise ConfigError(f"{change.target}: Slurm cannot read it: {answer.words}")
        return "scontrol reads it without complaint"

    return check
