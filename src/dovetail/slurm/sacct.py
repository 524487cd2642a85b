"""The fields of sacct that a trace is made of: the one list that all readers and commands use."""

from __future__ import annotations

FIELDS = (
    "JobID",
    "JobIDRaw",
    "User",
    "Partition",
    "QOS",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "Elapsed",
    "ElapsedRaw",
    "Timelimit",
    "TimelimitRaw",
    "State",
    "ReqTRES",
    "AllocTRES",
    "NNodes",
    "Priority",
    "Account",
    "Restarts",
    "JobName",
    "WorkDir",
    "SubmitLine",
    "Constraints",
    "Reservation",
)

_IN_WORDS = ("Elapsed", "Timelimit")
"""What another field tells as a number."""

EXPORTED = tuple(name for name in FIELDS if name not in _IN_WORDS)
"""What to ask sacct for with -o; the documents show it, and a test compares."""

_SPELLED = {name.lower(): name for name in FIELDS}


def spelled(name: str) -> str:
    """A field as it is spelled here: sacct's header has it as it was typed, in any case.

    >>> spelled("jobid"), spelled("Comment")
    ('JobID', 'Comment')
    """
    return _SPELLED.get(name.lower(), name)
