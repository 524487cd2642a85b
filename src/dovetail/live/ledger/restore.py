"""Putting every touched job back, and making sure of it.

>>> from dovetail.live.backends.recorded import MemoryCluster, RecordedBackend
>>> cluster = MemoryCluster.of_nodes(1, gpus=4)
>>> job, backend = cluster.submit(), RecordedBackend(cluster)
>>> cluster.set_site(job, 120)
>>> entry = LedgerEntry(job, Knob.SITE_FACTOR, before=0, asked=frozenset({120}))
>>> str(restore(backend, [entry], backend.read(), backend.apply))
'1 jobs put back, 0 needed nothing'

A site factor goes back to 0, a frozen job is released to Slurm's own factors, hints are taken off.
Jobs that an operator has set since then are his, and jobs that Slurm has forgotten need nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dovetail.live.backends.base import Backend
from dovetail.live.ledger.entry import Key, LedgerEntry
from dovetail.live.ledger.ledger import SHOWN
from dovetail.live.model.decision import UNDO, Change, Knob, Result, Value
from dovetail.live.model.first_factor import first_factor
from dovetail.live.model.snapshot import Factor, LiveJob, Snapshot

TRIES = 3
"""An update can be lost while backfill runs, up to Slurm 26.05: it is sent again."""

Send = Callable[[Sequence[Change]], Sequence[Result]]


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
    backend: Backend, touched: Iterable[LedgerEntry], snapshot: Snapshot, send: Send
) -> Restored:
    """Undo what was touched; `send` is how changes go out."""
    touched = tuple(touched)
    wanted = changes_back(touched, snapshot)
    changes, failed, over = wanted, tuple[Result, ...](), set[int]()
    for _ in range(TRIES):
        if not changes:
            break
        results = {_key(result.change): result for result in send(changes)}
        over |= {key.job for key, result in results.items() if is_over(result)}
        factors = backend.factors()
        changes = tuple(change for change in wanted if not _is_back(change, results, factors))
        failed = tuple(_blamed(results.get(_key(change)) or Result(change)) for change in changes)
    changed = {change.job for change in wanted} - over
    left = {result.change.job for result in failed}
    return Restored(len(changed - left), len({t.job for t in touched} - changed), failed)


def restore_where(
    chosen: Callable[[LiveJob, int], bool], backend: Backend, snapshot: Snapshot, send: Send
) -> Restored:
    """Undo the site factors that are chosen, for when the journal is lost."""
    touched = [
        LedgerEntry(job.id, Knob.SITE_FACTOR, 0)
        for job in snapshot.jobs
        # Of jobs that run, are held or may not start yet Slurm does not tell the factor.
        if chosen(job, snapshot.site_of(job.id)) or job.id not in snapshot.factors
    ]
    return restore(backend, touched, snapshot, send)


def changes_back(touched: Sequence[LedgerEntry], snapshot: Snapshot) -> tuple[Change, ...]:
    """What is to be sent: for the jobs themselves, and for tasks that were split off since."""
    every = {touch.key: touch for touch in touched}
    changes = []
    for job in snapshot.jobs:
        for knob in Knob:
            touch = _touch_of(job, knob, every)
            if touch is None and knob is Knob.SITE_FACTOR and _given_first(job, snapshot):
                touch = LedgerEntry(job.id, knob, 0)
            if touch is not None:
                changes += _back(touch, job, snapshot)
    return (*changes, *_unseen(touched, snapshot))


def _unseen(touched: Sequence[LedgerEntry], snapshot: Snapshot) -> Iterator[Change]:
    """Jobs that Slurm does not show are asked about, not believed to be gone.

    An answer without them may be incomplete; only Slurm's own word for a job that it does not know
    is evidence. A frozen one is not released unseen: somebody may hold it.
    """
    shown = snapshot.by_id.keys() | {job.array for job in snapshot.jobs}
    for touch in touched:
        if touch.job not in shown and touch.knob is Knob.SITE_FACTOR:
            yield Change(touch.job, str(touch.job), touch.knob, touch.held, 0, UNDO)


def _touch_of(job: LiveJob, knob: Knob, every: Mapping[Key, LedgerEntry]) -> LedgerEntry | None:
    """What was set of the job; a task that Slurm split off brings along what its array had."""
    own = every.get(Key(job.id, knob))
    array = every.get(Key(job.array, knob)) if knob in SHOWN else None
    if own is None or array is None:
        return own if array is None else replace(array, job=job.id)
    return replace(own, asked=own.asked | array.asked if own.asked and array.asked else own.asked)


def _given_first(job: LiveJob, snapshot: Snapshot) -> bool:
    first = first_factor(job.comment)
    return bool(first) and (job.running or snapshot.site_of(job.id) == first)


def _back(touch: LedgerEntry, job: LiveJob, snapshot: Snapshot) -> list[Change]:
    """The change that undoes one entry; none where there is nothing to undo."""
    if not (job.pending or job.running):
        return []
    factor = snapshot.factors.get(job.id)
    if touch.knob is Knob.PRIORITY:
        # To release a job that somebody holds would start it; whoever lets it go thaws it.
        if job.held or (factor is not None and not (factor.frozen and _ours(touch, factor))):
            return []
        return [Change(job.id, job.label, touch.knob, touch.held, None, UNDO)]
    if touch.knob is Knob.SITE_FACTOR:
        # Of a frozen job Slurm shows no factor, and has it all the same once it is released.
        shown = factor is not None and not factor.frozen
        if factor is not None and shown and (factor.site == 0 or not _ours(touch, factor)):
            return []
        return [Change(job.id, job.label, touch.knob, touch.held, 0, UNDO)]
    if not job.pending:
        return []  # where it runs cannot be changed any more
    if touch.knob is Knob.FEATURES and set_since(job, touch.asked):
        return []
    return [Change(job.id, job.label, touch.knob, touch.held, touch.before, UNDO)]


def set_since(job: LiveJob, asked: Collection[Value]) -> bool:
    """Whether somebody else has given a job the features that it asks for."""
    return bool(job.features and asked) and job.features not in asked


def _ours(touch: LedgerEntry, factor: Factor) -> bool:
    """Whether what Slurm has is what we asked for, not what an operator has set since."""
    now = factor.priority if touch.knob is Knob.PRIORITY else factor.site
    return not touch.asked or now in touch.asked


def _key(change: Change) -> Key:
    return Key(change.job, change.knob)


def _is_back(change: Change, results: Mapping[Key, Result], factors: Mapping[int, Factor]) -> bool:
    """By what Slurm says now of a waiting job; of others by its answer to the change."""
    result, factor = results.get(_key(change)), factors.get(change.job)
    if factor is not None and change.knob is Knob.SITE_FACTOR and not factor.frozen:
        return factor.site == 0
    if factor is not None and change.knob is Knob.PRIORITY:
        return not factor.frozen
    return result is None or result.done or is_over(result)


OVER = ("already finished", "Invalid job id")
"""Slurm's words for a job that is no more: nothing is left to put back."""


def is_over(result: Result) -> bool:
    """Whether a change failed because its job is no more."""
    return any(word in result.error for word in OVER)


def _blamed(result: Result) -> Result:
    return result if result.error else Result(result.change, "Slurm took it, but it did not hold")
