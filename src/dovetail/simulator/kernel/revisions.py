"""What is believed of how long running jobs take, and when that changes.

At first a job is to take its `reserve`. Where its estimates say what is left of it, given how long
it has run, that is looked up at some shares of that time (EARLY), and whenever it has outlived what
was believed; else, and after the last of these, what was believed is doubled.
"""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.domain.estimates import EARLY
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import job_facts, revision, run_of

EARLY_COUNT = len(EARLY)


@inner
def believe(w: World, job: int, speed: float) -> None:
    """What is believed of a job that starts at this speed; its start is known."""
    mine = run_of(w, job)
    mine.length = job_facts(w, job).reserve / speed
    mine.expected = mine.start + mine.length
    mine.speed, mine.revised = speed, 0


@inner
def next_revision(w: World, job: int) -> float:
    """When what is believed of a running job changes, if it runs on."""
    mine = run_of(w, job)
    if mine.revised < EARLY_COUNT and w.revision_count > 0:
        return mine.start + job_facts(w, job).reserve / mine.speed * EARLY[mine.revised]
    return mine.expected


@inner
def revise(w: World, job: int) -> bool:
    """At that time: believe something else; whether it is anything else."""
    mine = run_of(w, job)
    before = mine.length
    if mine.revised < w.revision_count:
        mine.length = revision(w, job * w.revision_count + mine.revised).seconds / mine.speed
        mine.revised += 1
    else:
        mine.length *= 2.0
    mine.expected = mine.start + mine.length
    return mine.length != before
