"""Putting every touched job back, and making sure of it.

    restored = restore(backend, journal.touched(), snapshot)
    restored.put_back, restored.gone, restored.left

A site factor goes back to 0, a frozen job is released to Slurm's own factors, a pin is taken off.
Jobs that an operator has set since then are his, and jobs that Slurm has forgotten need nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dovetail.domain.decision import Change, Knob, Result
from dovetail.domain.snapshot import Factor, LiveJob, Snapshot
from dovetail.live.backends.base import Backend
from dovetail.live.changes import first_factor, target

TRIES = 3
"""An update can be lost while backfill runs, up to Slurm 26.05: it is sent again."""

REASON = "Dovetail leaves the queue to Slurm"

Send = Callable[[Sequence[Change]], Sequence[Result]]


@dataclass(frozen=True, slots=True)
class Touch:
    """A value of a job that we set, or may have set."""

    job: int
    label: str
    knob: Knob
    before: str
    tried: frozenset[str] = frozenset()  # values that we asked for; empty: not known


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of the touched jobs."""

    put_back: int
    gone: int  # ended, or set by an operator since
    left: tuple[Result, ...]  # could not be put back, with Slurm's words

    def __str__(self) -> str:
        text = f"{self.put_back} jobs put back, {self.gone} needed nothing"
        return f"{text}, {len(self.left)} NOT put back" if self.left else text


def restore(
    backend: Backend, touched: Iterable[Touch], snapshot: Snapshot, send: Send | None = None
) -> Restored:
    """Undo what was touched; `send` is how changes go out, by default straight to Slurm."""
    send = send or backend.apply
    touched = tuple(touched)
    wanted = changes_back(touched, snapshot)
    changes, failed = wanted, tuple[Result, ...]()
    for _ in range(TRIES):
        if not changes:
            break
        results = {_key(result.change): result for result in send(changes)}
        factors = backend.factors()
        changes = tuple(change for change in wanted if not _is_back(change, results, factors))
        failed = tuple(_blamed(results.get(_key(change)) or Result(change)) for change in changes)
    changed = {change.job for change in wanted}
    left = {result.change.job for result in failed}
    return Restored(len(changed - left), len({t.job for t in touched} - changed), failed)


def restore_all(backend: Backend, snapshot: Snapshot, send: Send | None = None) -> Restored:
    """Undo every site factor there is, whoever set it: for when the journal is lost."""
    touched = [
        Touch(job.id, target(job), Knob.SITE_FACTOR, "0")
        for job in snapshot.jobs
        if job.running or snapshot.site_of(job.id)
    ]
    return restore(backend, touched, snapshot, send)


def changes_back(touched: Sequence[Touch], snapshot: Snapshot) -> tuple[Change, ...]:
    """What is to be sent: for the jobs themselves, and for tasks that were split off since."""
    arrays = {touch.job: touch for touch in touched if touch.knob is Knob.SITE_FACTOR}
    changes = [
        change
        for touch in touched
        for change in _back(touch, snapshot.by_id.get(touch.job), snapshot)
    ]
    known = {change.job for change in changes}
    for job in snapshot.jobs:
        heir = arrays.get(job.array) if job.array != job.id else None
        if job.id not in known and (heir is not None or _given_first(job, snapshot)):
            changes += _back(
                Touch(
                    job.id, target(job), Knob.SITE_FACTOR, "0", heir.tried if heir else frozenset()
                ),
                job,
                snapshot,
            )
    return tuple(changes)


def _given_first(job: LiveJob, snapshot: Snapshot) -> bool:
    first = first_factor(job.comment)
    return bool(first) and (job.running or snapshot.site_of(job.id) == first)


def _back(touch: Touch, job: LiveJob | None, snapshot: Snapshot) -> list[Change]:
    """The change that undoes one touch; none where there is nothing to undo."""
    if job is None or not (job.pending or job.running):
        return []
    factor = snapshot.factors.get(job.id)
    if touch.knob is Knob.PRIORITY:
        if factor is not None and not factor.frozen:
            return []
        return [Change(job.id, touch.label, Knob.RELEASE, "", "", REASON)]
    if touch.knob is Knob.SITE_FACTOR and factor is not None:
        theirs = touch.tried and str(factor.site) not in touch.tried
        if factor.site == 0 or theirs:
            return []
    if touch.knob is not Knob.SITE_FACTOR and not job.pending:
        return []  # where it runs cannot be changed any more
    after = "0" if touch.knob is Knob.SITE_FACTOR else touch.before
    return [Change(job.id, touch.label, touch.knob, "", after, REASON)]


def _key(change: Change) -> tuple[int, Knob]:
    return change.job, change.knob


def _is_back(
    change: Change, results: Mapping[tuple[int, Knob], Result], factors: Mapping[int, Factor]
) -> bool:
    """By what Slurm says now of a waiting job; of others by its answer to the change."""
    result, factor = results.get(_key(change)), factors.get(change.job)
    if result is not None and any(word in result.error for word in OVER):
        return True
    if factor is not None and change.knob is Knob.SITE_FACTOR:
        return factor.site == 0
    if factor is not None and change.knob is Knob.RELEASE:
        return not factor.frozen
    return result is None or result.done


OVER = ("already finished", "Invalid job id")
"""Slurm's words for a job that is no more: nothing is left to put back."""


def _blamed(result: Result) -> Result:
    return result if result.error else Result(result.change, "Slurm took it, but it did not hold")
