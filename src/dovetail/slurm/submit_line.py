"""What a command such as `sbatch --dependency=afterok:7 --array=0-9%2 job.sh` says of its job.

>>> submission_of("sbatch -d afterok:7 --array=0-9%2 --begin=now+1hour job.sh")
Submission(dependency='afterok:7', throttle=2, delay=3600.0, begin=None, licenses=None)

What stands in the script itself (`#SBATCH`) is not in it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_DEPENDENCY = re.compile(
    r"""(?:\s--dependency[=\s]\s*|\s-d\s*)["']?((?:after|singleton)[^\s"']*)"""
)
_THROTTLE = re.compile(r"""(?:\s--array[=\s]\s*|\s-a\s*)["']?[0-9,:-]+%([0-9]{1,9})\b""")
_BEGIN = re.compile(r"""(?:\s--begin[=\s]\s*|\s-b\s*)["']?([^\s"']+)""")
_LICENSES = re.compile(r"""(?:\s--licenses[=\s]\s*|\s-L\s*)["']?([^\s"']+)""")
_LATER = re.compile(r"^now\+([0-9]{1,9})([a-z]*)$")
_DATE = re.compile(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?$")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


class Submission(NamedTuple):
    """What a job was to wait for, and what it was to hold."""

    dependency: str | None = None
    throttle: int = 0  # tasks of the array at once; 0: all
    delay: float = 0.0  # seconds after the submission
    begin: str | None = None  # a date and time of day, on the cluster's clock
    licenses: str | None = None


def submission_of(line: str) -> Submission:
    """What is not said, or not as Slurm would read it, is left out."""
    dependency, throttle, begin, licenses = (
        match[1] if (match := pattern.search(line)) else None
        for pattern in (_DEPENDENCY, _THROTTLE, _BEGIN, _LICENSES)
    )
    later = _LATER.match((begin or "").lower())
    date = begin if begin is not None and _DATE.match(begin) else None
    return Submission(
        dependency,
        int(throttle or 0),
        float(later[1]) * _UNITS.get(later[2][:1], 0.0) if later else 0.0,
        f"{date}T00:00:00"[:19] if date and "T" not in date else _with_seconds(date),
        licenses,
    )


def _with_seconds(date: str | None) -> str | None:
    return f"{date}:00" if date is not None and len(date) == 16 else date
