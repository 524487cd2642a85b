"""Parts of a history to learn on, each of which begins while jobs wait.

The choice replays all that may be learned from at three loads; a part begins in the state that this
replay had there. From an idle cluster, a queue as long as a history's worst would take thousands of
jobs to build up in every single replay of a search.
"""

from __future__ import annotations

import numpy as np

from dovetail.agents.choice.cells import LOADS, SiteHistory, cut
from dovetail.agents.replays import Contestant, ReplayCell
from dovetail.domain.jobs import Ints
from dovetail.domain.schedule import Schedule
from dovetail.simulator import warm_window

WAITING = 10
"""Jobs that wait where a part begins, at least; if they nowhere do, as many as ever."""

LONGEST_SHARE = 0.8
"""Of what may be learned from: a part as long as all of it could begin nowhere but at row 0."""


def warm_cells(
    history: SiteHistory,
    choice: Contestant,
    count: int,
    length: int,
    random: np.random.Generator,
) -> list[ReplayCell]:
    """So many parts of `length` jobs, at loads in turn."""
    if count == 0:
        return []
    length = max(1, min(length, round(LONGEST_SHARE * history.learning)))
    wholes = [
        cut(history, 0, history.learning, 0, load, int(random.integers(1 << 31)))
        for load in LOADS[:count]
    ]
    replays = [whole.replay(choice) for whole in wholes]
    found = []
    for number in range(count):
        at = number % len(wholes)
        rows = waiting_rows(replays[at], history.learning - length + 1)
        found.append(_warm_cell(wholes[at], replays[at], int(random.choice(rows)), length))
    return found


def waiting_rows(schedule: Schedule, end: int) -> Ints:
    """Rows before `end` whose jobs come while others wait."""
    waiting = jobs_waiting(schedule)[:end]
    return np.flatnonzero(waiting >= min(WAITING, int(waiting.max())))


def jobs_waiting(schedule: Schedule) -> Ints:
    """How many jobs from before a row wait when it is submitted: [jobs]."""
    ran = schedule.ran
    before = np.concatenate(([0], np.cumsum(ran)[:-1]))
    # Whoever has started before a submission was submitted before it, too.
    started = np.searchsorted(np.sort(schedule.start[ran]), schedule.trace.jobs.submit)
    waiting: Ints = np.maximum(0, before - started)
    return waiting


def _warm_cell(whole: ReplayCell, replay: Schedule, first: int, length: int) -> ReplayCell:
    window = warm_window(replay, first, length)
    forecast = None if whole.forecast is None else whole.forecast.take(window.rows)
    return ReplayCell(
        window.trace, whole.cluster, forecast, window.carried, whole.seed, warm=window
    )
