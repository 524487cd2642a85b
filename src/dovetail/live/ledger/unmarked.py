"""Values that carry no mark, written beside the journal so that its loss is not theirs.

>>> import tempfile
>>> from dovetail.live.model.decision import Change, Knob
>>> close = Change(17, "17", Knob.SITE_FACTOR, before=0, after=-4, reason="order")
>>> with tempfile.TemporaryDirectory() as folder:
...     UnmarkedFactors(Path(folder)).note([close])
...     UnmarkedFactors(Path(folder)).has(LiveJob(17, "17", "PENDING"), -4)
True

Where jobs stand so close that factors cannot be chosen, nothing in a factor tells whose it is. Such
values go into a file of the run folder before they are sent: another disk than the journal's, as a
rule, and nothing to do where there is room.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from dovetail.files import Folder
from dovetail.live.journal import JournalError
from dovetail.live.journal.errors import in_words
from dovetail.live.model.decision import Change, Knob
from dovetail.live.model.mark import is_marked
from dovetail.live.model.snapshot import LiveJob

LOG = logging.getLogger("dovetail.live")

FILE = "unmarked_factors"
HEADING = "dovetail-unmarked-factors 1"

Record = set[tuple[int, int]]
"""Job and factor."""


class UnmarkedFactors:
    """The file, and what is known to be in it."""

    def __init__(self, run_dir: Path | None = None) -> None:
        """Without a folder nothing outlives this object."""
        self._run_dir = run_dir
        self._kept = self._read()
        self._found = frozenset(job for job, _ in self._kept)  # set before our time

    def has(self, job: LiveJob, factor: int) -> bool:
        """Whether we asked for it, of the job or of the array that it was split off."""
        return (job.id, factor) in self._kept or (job.array, factor) in self._kept

    def note(self, changes: Iterable[Change], open_jobs: Collection[int] = ()) -> None:
        """Write down what is about to be sent without a mark; JournalError: it must not be.

        open_jobs: those of which the journal has something to undo; of others nothing is kept,
        but for what was found at the start.
        """
        new = {
            (change.job, change.after)
            for change in changes
            if change.knob is Knob.SITE_FACTOR
            and isinstance(change.after, int) and change.after and not is_marked(change.after)
        } - self._kept  # fmt: skip
        if new:
            wanted = self._found.union(open_jobs)
            self._write(new | {each for each in self._kept if each[0] in wanted})

    def forget(self, jobs: Collection[int]) -> None:
        """Nothing of ours is left on these jobs."""
        left = {each for each in self._kept if each[0] not in jobs}
        if left != self._kept:
            self._found -= frozenset(jobs)
            with suppress(JournalError):  # a value too many in the file does no harm
                self._write(left)

    def _read(self) -> Record:
        if self._run_dir is None:
            return set()
        try:
            with Folder.open(self._run_dir) as folder:
                heading, *lines = folder.read(FILE).decode("ascii").splitlines()
            if heading != HEADING:
                raise ValueError(f"begins with {heading[:40]!r}")
            pairs = (line.split() for line in lines)
            return {(int(job), int(factor)) for job, factor in pairs}
        except FileNotFoundError:
            return set()
        except (OSError, ValueError) as error:
            LOG.warning("%s is not believed: %s", self._run_dir / FILE, error)
            return set()

    def _write(self, record: Record) -> None:
        if self._run_dir is not None:
            lines = [HEADING, *(f"{job} {factor}" for job, factor in sorted(record))]
            with in_words(self._run_dir / FILE), Folder.open(self._run_dir) as folder:
                folder.write(FILE, ("\n".join(lines) + "\n").encode())
        self._kept = record
