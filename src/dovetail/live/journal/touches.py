"""Which values of which jobs differ from what they were: the daemon's running account of it.

The file says the same by its view `touched`; this saves asking it for every change.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dovetail.live.model.decision import Change, Knob, Result

Key = tuple[int, str]
"""Job and knob, the knob by its word, as the file has it."""

_PRIORITY, _RELEASE = Knob.PRIORITY.value, Knob.RELEASE.value


class _Touch(NamedTuple):
    opening: int  # the action that touched it first
    before: str  # what it was before that


class Touching:
    """Values touched, from the first intent on until a result says that they are as before.

    A change that failed counts as well: an error may be a time-out of something that was done.
    A priority set by hand is undone by releasing the job, everything else by its old value.
    """

    def __init__(self, touches: Mapping[Key, _Touch]) -> None:
        self._touches = dict(touches)
        self._last: dict[Key, int] = {}  # the action of this daemon that was the last on it

    @classmethod
    def load(cls, connection: sqlite3.Connection) -> Touching:
        rows = connection.execute("SELECT job, knob, id, before FROM touched")
        return cls({(job, knob): _Touch(id, before) for job, knob, id, before in rows})

    def openings(self, changes: Sequence[Change], first: int) -> list[int | None]:
        """The opening of each change, if these get the numbers from `first` on."""
        new: dict[Key, int] = {}
        found: list[int | None] = []
        for number, change in enumerate(changes, first):
            key = (change.job, change.knob.value)
            if change.knob is Knob.RELEASE:
                found.append(None)
            elif key in self._touches:
                found.append(self._touches[key].opening)
            else:
                found.append(new.setdefault(key, number))
        return found

    def opened(self, changes: Sequence[Change], openings: Sequence[int | None], first: int) -> None:
        """The changes have been written down."""
        for number, (change, opening) in enumerate(zip(changes, openings, strict=True), first):
            key = _undone_by(change)
            if opening is not None and key not in self._touches:
                self._touches[key] = _Touch(opening, change.before)
            if key in self._touches:
                self._last[key] = number

    def closed_by(self, results: Iterable[Result], first: int) -> dict[Key, int]:
        """Openings of values that are as before; not where a later change is on its way."""
        closed: dict[Key, int] = {}
        for number, result in enumerate(results, first):
            key = _undone_by(result.change)
            touch = self._touches.get(key)
            if touch is None or not result.done or number != self._last.get(key):
                continue
            released = result.change.knob is Knob.RELEASE
            if released or (key[1] != _PRIORITY and result.change.after == touch.before):
                closed[key] = touch.opening
        return closed

    def of_jobs(self, jobs: Iterable[int]) -> dict[Key, int]:
        """Openings of all values of these jobs."""
        chosen = set(jobs)
        return {key: t.opening for key, t in self._touches.items() if key[0] in chosen}

    def forget(self, keys: Iterable[Key]) -> None:
        for key in keys:
            del self._touches[key]
            self._last.pop(key, None)


def _undone_by(change: Change) -> Key:
    """What a change is about: releasing a job is about its priority."""
    knob = change.knob.value
    return change.job, _PRIORITY if knob == _RELEASE else knob
