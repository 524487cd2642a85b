"""Which Slurm the tests run on: the one whose programs come first on PATH."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache

Version = tuple[int, int]

CGROUPS_SINCE: Version = (23, 11)
"""From here on slurmd wants to know about cgroups, even where it is to do without."""
RECONFIGURES_ALL_SINCE: Version = (23, 11)
"""From here on `scontrol reconfigure` executes slurmctld anew, and hooks count at once."""
ONE_API_SINCE: Version = (23, 11)
"""From here on slurmrestd has one plug-in for all versions of its API."""
STRICT_REST_SINCE: Version = (25, 11)
"""From here on slurmrestd runs neither as root nor as Slurm's user."""


def search_path() -> str:
    """PATH with the folders of daemons, which normal users often lack."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


@cache
def slurm_version() -> Version:
    """Such as (22, 5); (0, 0) where there is no Slurm."""
    found = shutil.which("slurmctld", path=search_path())
    said = subprocess.run([found, "-V"], capture_output=True, text=True).stdout if found else ""
    numbers = re.search(r"(\d+)\.(\d+)", said)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
