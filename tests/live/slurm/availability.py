"""Whether a real Slurm can be started on this machine, and if not, why not."""

from __future__ import annotations

import os
import shutil
import sys

from tests.live.slurm.options import Options
from tests.live.slurm.version import STRICT_REST_SINCE, search_path, slurm_version

PACKAGES = {
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "sbatch": "slurm-client",
    "munged": "munge",
    "slurmdbd": "slurmdbd slurm-wlm-mysql-plugin",
    "mariadbd": "mariadb-server",
    "mariadb-install-db": "mariadb-server",
    "slurmrestd": "slurmrestd slurm-wlm-jwt-plugin",
    "faketime": "faketime libfaketime",
}


def why_not(options: Options | None = None) -> str | None:
    """The reason why no such cluster can be started here, or None when one can."""
    if not sys.platform.startswith("linux"):
        return f"a throw-away Slurm needs Linux, this is {sys.platform}"
    missing = [name for name in _needed(options or Options()) if not _installed(name)]
    if not missing:
        return _refusal(options or Options())
    packages = " ".join(dict.fromkeys(PACKAGES[name] for name in missing))
    return f"no {', '.join(missing)}; on Debian: apt install {packages}"


def _refusal(options: Options) -> str | None:
    strict = slurm_version() >= STRICT_REST_SINCE
    if options.rest == "local" and strict and os.geteuid() == 0:
        return "this slurmrestd never runs as root, and so takes callers with tokens only"
    return None


def _installed(program: str) -> bool:
    return shutil.which(program, path=search_path()) is not None


def _needed(options: Options) -> list[str]:
    needed = ["slurmctld", "slurmd", "sbatch"]
    if options.auth == "munge":
        needed.append("munged")
    if options.accounting is not None:
        needed += ["slurmdbd", "mariadbd", "mariadb-install-db"]
    if options.rest != "none":
        needed.append("slurmrestd")
    if options.speed > 1:
        needed.append("faketime")
    return needed
