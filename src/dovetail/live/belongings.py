"""What we have set about which jobs: the daemon's memory of it, beside the journal's.

own = Belongings()
own.tried(changes); own.settled(results)
own.now().site[17], own.touches(journal.past.touched())
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dovetail.domain.decision import Change, Knob, Result
from dovetail.domain.snapshot import Snapshot
from dovetail.live.changes import Own
from dovetail.live.restoring import Touch


class Belongings:
    """Values that we asked for, and those that we know Slurm has."""

    def __init__(self) -> None:
        self._touches: dict[tuple[int, Knob], Touch] = {}
        self._held: dict[tuple[int, Knob], str] = {}  # what Slurm took

    def __bool__(self) -> bool:
        return bool(self._touches)

    def tried(self, changes: Iterable[Change]) -> None:
        """These are about to be sent: from now on they may have to be undone."""
        for change in changes:
            key = (change.job, change.knob)
            touch = self._touches.get(key) or Touch(
                change.job, change.label, change.knob, change.before
            )
            self._touches[key] = Touch(
                touch.job, touch.label, touch.knob, touch.before, touch.tried | {change.after}
            )

    def settled(self, results: Iterable[Result]) -> None:
        """What became of them; a change that failed leaves what was there before."""
        for result in results:
            if result.done:
                self._held[result.change.job, result.change.knob] = result.change.after

    def now(self) -> Own:
        """What Slurm has of us now."""
        frozen = {
            touch.job: int(touch.before)
            for (_, knob), touch in self._touches.items()
            if knob is Knob.PRIORITY
        }
        return Own(
            site={
                j: int(text) for (j, knob), text in self._held.items() if knob is Knob.SITE_FACTOR
            },
            frozen=frozen,
            nodes={j: text for (j, knob), text in self._held.items() if knob is Knob.NODE and text},
        )

    def touches(self, recorded: Sequence[Touch]) -> tuple[Touch, ...]:
        """All that must be undone: by the journal's account and by ours."""
        every = {(touch.job, touch.knob): touch for touch in recorded}
        for key, touch in self._touches.items():
            known = every.get(key)
            tried = touch.tried | known.tried if known is not None else touch.tried
            every[key] = Touch(touch.job, touch.label, touch.knob, touch.before, tried)
        return tuple(every.values())

    def look(self, snapshot: Snapshot) -> None:
        """See what Slurm has: a change whose answer got lost may have been made all the same.

        Jobs that Slurm has forgotten need no undoing, and are forgotten here.
        """
        if not self._touches:
            return
        alive = {job.id for job in snapshot.jobs if job.pending or job.running}
        alive |= {job.array for job in snapshot.jobs if job.array}
        self._touches = {key: touch for key, touch in self._touches.items() if key[0] in alive}
        self._held = {key: text for key, text in self._held.items() if key[0] in alive}
        for key, touch in self._touches.items():
            site = str(snapshot.site_of(touch.job))
            if touch.knob is Knob.SITE_FACTOR and site in touch.tried:
                self._held[key] = site

    def clear(self) -> None:
        self._touches.clear()
        self._held.clear()
