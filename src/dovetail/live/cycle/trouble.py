"""What goes wrong again and again: counted over cycles, and said in words with what to do.

>>> from dovetail.live.model.decision import Change, Knob
>>> change = Change(17, "17", Knob.SITE_FACTOR, 0, 37, "goes first")
>>> cause_of([Result(change, "Access/permission denied for job 17")])[:41]
"Slurm refuses: 'Access/permission denied'"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dovetail.live.config import GuardrailConfig
from dovetail.live.ledger.restore import is_over
from dovetail.live.model.decision import Result
from dovetail.live.model.snapshot import Snapshot

_REMEDIES = (
    (
        "permission denied",
        "Access/permission denied",
        "the daemon's user has lost the right to change jobs: "
        "sacctmgr modify user NAME set adminlevel=operator; `dovetail live doctor` looks closer",
    ),
    ("no answer", "no answer", "slurmctld is busy or away: see `scontrol ping` and `sdiag`"),
    ("taken, but", "taken, but undone at once", "something else sets the same factor"),
)


class Streak:
    """Cycles in a row with the same kind of failure."""

    def __init__(self) -> None:
        self.length = 0

    def note(self, failed: bool) -> int:
        self.length = self.length + 1 if failed else 0
        return self.length


def cause_of(results: Sequence[Result]) -> str:
    """Why changes failed, the most frequent reason first; empty: none did that could be done.

    A job that has ended meanwhile is nobody's trouble.
    """
    errors = [each.error for each in results if not each.done and not is_over(each)]
    if not errors:
        return ""
    (kind, count), *others = Counter(map(_kind, errors)).most_common()
    remedy = next((then for _, name, then in _REMEDIES if name == kind), "")
    more = f"; {sum(n for _, n in others):,} failed for other reasons" if others else ""
    said = f"Slurm refuses: {kind!r}" + (f" ({count:,} times)" if count > 1 else "")
    return said + (f": {remedy}" if remedy else "") + more


def refused(results: Sequence[Result]) -> bool:
    """Whether most of what was sent failed, jobs that have ended meanwhile left aside."""
    counted = [each for each in results if not is_over(each)]
    return bool(counted) and 2 * sum(not each.done for each in counted) > len(counted)


FORGOTTEN = 300.0
"""Seconds; Slurm's own MinJobAge, where nothing else is set."""


def unbelievable(
    seen: frozenset[int], since: float, snapshot: Snapshot, config: GuardrailConfig
) -> str:
    """Why an answer is no evidence of anything; empty: it is.

    Slurm shows jobs for MinJobAge after they have ended. An answer in which all jobs, or most of
    many, are missing without a trace comes of lost rights, a lost state folder or a broken
    program, and not of a queue that has emptied. `since`: when they were seen last; after a long
    silence it is no wonder that most are gone, as long as there are others.
    """
    gone = len(seen - snapshot.by_id.keys())
    if not gone:
        return ""
    many = gone >= config.vanished_jobs and gone > config.vanished_share * len(seen)
    if snapshot.jobs and (not many or snapshot.time - since > FORGOTTEN):
        return ""
    return f"{gone:,} of {len(seen):,} jobs are missing without a trace, and that is not believed"


def _kind(error: str) -> str:
    for sign, name, _ in _REMEDIES:
        if sign in error.lower():
            return name
    return error[:120]
