"""Reading what Slurm prints: `Key=value` lines and the log of completed jobs."""

from __future__ import annotations

import re
from calendar import timegm
from dataclasses import dataclass
from time import strptime

# A value may hold blanks (a command with its arguments), a key never does.
_KEY = re.compile(r"(?:^|\s)([A-Z][A-Za-z0-9_/:]*)=")


@dataclass(frozen=True)
class Completed:
    """One job that ended; times are seconds since 1970, with a resolution of one second."""

    id: int
    name: str
    user: str
    state: str
    submit: int
    start: int
    end: int
    nodes: str
    fields: dict[str, str]


def fields_of(line: str) -> dict[str, str]:
    """`JobId=7 JobName=a b UserId=x(0)` as a dict; the first of two equal keys counts."""
    found = list(_KEY.finditer(line))
    ends = [match.start() for match in found[1:]] + [len(line)]
    fields: dict[str, str] = {}
    for match, end in zip(found, ends, strict=True):
        fields.setdefault(match[1], line[match.end() : end].strip())
    return fields


def completed_of(line: str) -> Completed:
    """One line of jobcomp/filetxt; the cluster's daemons run in UTC."""
    fields = fields_of(line)
    return Completed(
        id=int(fields["JobId"]),
        name=fields["Name"],
        user=fields["UserId"].partition("(")[0],
        state=fields["JobState"],
        submit=epoch(fields["SubmitTime"]),
        start=epoch(fields["StartTime"]),
        end=epoch(fields["EndTime"]),
        nodes=fields["NodeList"],
        fields=fields,
    )


def epoch(text: str) -> int:
    """Seconds since 1970 of a time as the cluster prints it; 0 for Unknown."""
    if text in ("Unknown", "None", "N/A"):
        return 0
    return timegm(strptime(text, "%Y-%m-%dT%H:%M:%S"))
