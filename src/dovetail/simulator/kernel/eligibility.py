"""Jobs that may run only once others have started or ended; a trace without them never comes here.

They are passed by when their row comes up, and enter the queue as an event of their own.
"""

from __future__ import annotations

from dovetail.compiled.functions import inner
from dovetail.simulator.kernel import events
from dovetail.simulator.kernel.eligibility_rows import ENDED
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.state import (
    array_of,
    array_task,
    dependency_link,
    eligibility,
)


@inner
def pass_held(w: World) -> None:
    """Go on to the next row whose job comes by itself."""
    while w.submitted < w.job_count and eligibility(w, w.submitted).held:
        w.submitted += 1


@inner
def note(w: World, job: int, moment: int) -> None:
    """A job has started or ended: who has waited for that?"""
    mine = eligibility(w, job)
    for at in range(mine.link_first, mine.link_last):
        link = dependency_link(w, at)
        other = eligibility(w, link.job)
        if link.moment == moment and not other.settled:
            other.settled = other.any
            _meet(w, link.job, w.now + link.delay)
    if moment == ENDED and mine.array >= 0:
        own = array_of(w, mine.array)
        if own.following < own.last:
            own.following += 1
            _meet(w, array_task(w, own.following - 1).job, w.now)


@inner
def _meet(w: World, job: int, earliest: float) -> None:
    """One thing less that a job waits for; after the last it may run."""
    mine = eligibility(w, job)
    mine.earliest = max(mine.earliest, earliest)
    mine.missing -= 1
    if mine.missing == 0:
        events.push(w, max(mine.earliest, w.now), 2 * w.job_count + job)
