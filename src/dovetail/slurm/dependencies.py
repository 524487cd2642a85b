"""What a job waits for before it may run, as `sbatch --dependency` has it.

>>> dependency_of("afterok:12:13_4").terms
(Term(event='end', jobs=('12', '13_4'), seconds=0.0),)
>>> dependency_of("after:14+5").terms
(Term(event='start', jobs=('14',), seconds=300.0),)
>>> dependency_of("singleton").singleton, dependency_of("afterany:1?afterany:2").any
(True, True)

The jobs of a trace have run: what they depended on has come to pass. So `afterok`, `afternotok` and
`afterany` all wait for the end of a job, however it ended.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

START, END, SAME_TASK = "start", "end", "end of the same task"
_EVENTS = {
    "after": START,
    "afterok": END,
    "afternotok": END,
    "afterany": END,
    "aftercorr": SAME_TASK,
    "afterburstbuffer": END,
}
_JOB = re.compile(r"^([0-9A-Za-z_.#\[\]-]+?)(?:\+([0-9]{1,9}))?$")
MOST_TERMS = 10_000
"""Jobs that one job may wait for; a text that names more is no dependency."""


@dataclass(frozen=True, slots=True)
class Term:
    """Jobs by their ids, and what of each has to come to pass, so long ago."""

    event: str
    jobs: tuple[str, ...]
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Dependency:
    """All of the terms have to come to pass, or any one of them."""

    terms: tuple[Term, ...] = ()
    any: bool = False
    singleton: bool = False  # all earlier jobs of the same user and name have to end


def dependency_of(text: str) -> Dependency:
    """What a text says; terms that nobody knows are left out."""
    terms: list[Term] = []
    singleton = False
    for part in re.split(r"[,?]", text)[:MOST_TERMS]:
        kind, _, jobs = part.strip().partition(":")
        kind = kind.partition("(")[0].lower()
        if kind == "singleton":
            singleton = True
        elif kind in _EVENTS:
            terms += _terms(_EVENTS[kind], jobs.partition("(")[0])
    any_one = "?" in text and not singleton
    if any_one:  # a delay would have to be chosen among several
        terms = [Term(term.event, term.jobs) for term in terms]
    return Dependency(tuple(terms), any_one, singleton)


def _terms(event: str, text: str) -> list[Term]:
    found = [_JOB.match(job) for job in text.split(":")[:MOST_TERMS]]
    by_delay: dict[float, list[str]] = {}
    for match in found:
        if match is not None:
            by_delay.setdefault(60.0 * int(match[2] or 0), []).append(match[1])
    return [Term(event, tuple(jobs), seconds) for seconds, jobs in by_delay.items()]
