"""What a command such as `sbatch --dependency=afterok:7 --array=0-9%2 job.sh` says of its job.

>>> submission_of("sbatch -d afterok:7 --array=0-9%2 --begin=now+1hour job.sh")[:3]
('afterok:7', 2, 3600.0)
>>> submission_of("sbatch -p short,long --nodelist=gpu[1-2] -x gpu7 job.sh")[5:]
('short,long', 'gpu[1-2]', 'gpu7', None, None)
>>> submission_of("sbatch -C 'a100&ib' --reservation=course job.sh")[8:]
('a100&ib', 'course')

What stands in the script itself (`#SBATCH`) is not in it.
"""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

_DEPENDENCY = re.compile(
    r"""(?:\s--dependency[=\s]\s*|\s-d\s*)["']?((?:after|singleton)[^\s"']*)"""
)
_THROTTLE = re.compile(r"""(?:\s--array[=\s]\s*|\s-a\s*)["']?[0-9,:-]+%([0-9]{1,9})\b""")
_BEGIN = re.compile(r"""(?:\s--begin[=\s]\s*|\s-b\s*)["']?([^\s"']+)""")
_LICENSES = re.compile(r"""(?:\s--licenses[=\s]\s*|\s-L\s*)["']?([^\s"']+)""")
_LONG = {"-p": "--partition", "-w": "--nodelist", "-x": "--exclude", "-C": "--constraint"}
_FLAGS = {
    "-H", "-I", "-O", "-Q", "-W", "-s", "-v", "--contiguous", "--exclusive", "--hold",
    "--no-requeue", "--overcommit", "--oversubscribe", "--parsable", "--quiet", "--requeue",
    "--spread-job", "--wait",
}  # fmt: skip
"""Options whose next word is never their value, but the script's name."""
_PARTITIONS = re.compile(r"[\w.,@+-]+")
_HOSTS = re.compile(r"(?=.*[A-Za-z])[\w.,\[\]-]+")
_FEATURES = re.compile(r"[\w.&|,*:()\[\]+-]+")
_RESERVATION = re.compile(r"[\w.,@+-]+")
_LATER = re.compile(r"^now\+([0-9]{1,9})([a-z]*)$")
_DATE = re.compile(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?$")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


class Submission(NamedTuple):
    """What a job was to wait for, what it was to hold, and where it was to run."""

    dependency: str | None = None
    throttle: int = 0  # tasks of the array at once; 0: all
    delay: float = 0.0  # seconds after the submission
    begin: str | None = None  # a date and time of day, on the cluster's clock
    licenses: str | None = None
    partitions: str | None = None  # one or several: "short,long"
    nodelist: str | None = None  # host lists, as typed: nodes that it must have
    exclude: str | None = None  # and that it must not have
    constraint: str | None = None  # features of its nodes
    reservation: str | None = None


def submission_of(line: str) -> Submission:
    """What is not said, or not as Slurm would read it, is left out."""
    dependency, throttle, begin, licenses = (
        match[1] if (match := pattern.search(line)) else None
        for pattern in (_DEPENDENCY, _THROTTLE, _BEGIN, _LICENSES)
    )
    told = _options(line)
    later = _LATER.match((begin or "").lower())
    date = begin if begin is not None and _DATE.match(begin) else None
    return Submission(
        dependency,
        int(throttle or 0),
        float(later[1]) * _UNITS.get(later[2][:1], 0.0) if later else 0.0,
        f"{date}T00:00:00"[:19] if date and "T" not in date else _with_seconds(date),
        licenses,
        _readable(told, "--partition", _PARTITIONS),
        _readable(told, "--nodelist", _HOSTS),
        _readable(told, "--exclude", _HOSTS),
        _readable(told, "--constraint", _FEATURES),
        _readable(told, "--reservation", _RESERVATION),
    )


def _options(line: str) -> dict[str, str]:
    """The options before the script, whose own may look alike; of two that are alike the last."""
    words, found = deque(line.split()[1:]), {}
    while words and words[0].startswith("-") and not words[0].startswith("--wrap"):
        word = words.popleft()
        name, told, value = (
            word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
        )
        if not (told or value or name in _FLAGS or (words and words[0].startswith("-"))):
            value = words.popleft() if words else ""
        found[_LONG.get(name, name)] = value.strip("\"'")
    return found


def _readable(told: dict[str, str], option: str, pattern: re.Pattern[str]) -> str | None:
    """What an option says, unless that is something else, such as a file of names."""
    value = told.get(option, "")
    return value if pattern.fullmatch(value) else None


def _with_seconds(date: str | None) -> str | None:
    return f"{date}:00" if date is not None and len(date) == 16 else date
