"""States of jobs and nodes: one word each, and flags.

>>> job_state("CANCELLED by 1000"), job_state(["RUNNING", "COMPLETING"])
('CANCELLED', 'COMPLETING')
>>> node_state("DOWN*")
('DOWN', frozenset({'NOT_RESPONDING'}))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

GOING = frozenset({"RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING"})
"""States in which the end that Slurm tells is only what the limit allows."""

_PLAIN = ("PENDING", "RUNNING", "COMPLETED")
_HELD_ELSEWHERE = frozenset(
    {"REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
)
_STILL_RUNNING = frozenset({"RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "UPDATE_DB"})
_MARKS = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "!": "POWERING_DOWN",
    "%": "POWERING_DOWN",
    "$": "MAINTENANCE",
    "@": "REBOOT_ISSUED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
}


def job_state(words: str | Sequence[str]) -> str:
    """One word for a job's state and its flags; a job that waits to be requeued is pending."""
    if words in _PLAIN:
        return str(words)
    # sacct says who cancelled a job, or cuts the word where the column ends.
    flags = [words.partition(" ")[0].rstrip("+")] if isinstance(words, str) else list(words)
    for going in ("COMPLETING", "CONFIGURING"):
        if going in flags:
            return going
    if _HELD_ELSEWHERE.intersection(flags):
        return "PENDING"
    plain = [flag for flag in flags if flag not in _STILL_RUNNING]
    return plain[0] if plain else "RUNNING"


@lru_cache(maxsize=1024)
def node_state(text: str) -> tuple[str, frozenset[str]]:
    """`IDLE+DRAIN*` as the base state and its flags."""
    words = text.rstrip("".join(_MARKS))
    marks = [_MARKS[mark] for mark in text[len(words) :]]
    return node_state_of_words([*words.split("+"), *marks])


def node_state_of_words(words: Iterable[str]) -> tuple[str, frozenset[str]]:
    """The base state first, in capitals: JSON of old versions writes `mixed`."""
    base, *flags = [word.upper() for word in words] or ["UNKNOWN"]
    return base, frozenset(flags)
