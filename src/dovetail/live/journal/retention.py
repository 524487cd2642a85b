"""How the journal stays as small as it was told to, oldest cycles out first.

Cut is between *chapters* of up to an hour: the first decision in each says all, so that what stays
can be read without what went. Chapters older than `keep_days` go; where the file is larger than
`max_mb`, the oldest go whatever their age, since a full disk would stop the daemon altogether. The
chapter under way always stays. So do, however old: of a value that is still touched the first
action and those that Slurm may have now, runs that have not ended, the cluster's last shape, the
last mode, and recoveries.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from dovetail.live.config import JournalConfig
from dovetail.live.journal.schema import allow_deletes, forbid_deletes

CHAPTER = 60
"""Cycles in a chapter, at most."""

CHAPTERS = 16
"""A chapter ends when it has this part of `max_mb`: a flood must not make one that is too large."""

_FIRST_ACTION = "SELECT first_action FROM cycles WHERE id = :first"
# The last change of a touched value that Slurm is known to have taken, and all later ones: what the
# job has now is one of these, and without them it would pass for somebody else's.
_UNSETTLED = (
    "SELECT a.id FROM actions a LEFT JOIN (SELECT opening, max(id) AS last FROM actions"
    " JOIN results ON action = id WHERE error = '' GROUP BY opening) d ON d.opening = a.opening"
    " WHERE a.opening IN (SELECT id FROM touched) AND a.id >= coalesce(d.last, 0)"
)
# In this order: what is touched is read from actions and closings, what has ended from ends.
_OLD = (
    f"actions WHERE id < ({_FIRST_ACTION}) AND id NOT IN (SELECT id FROM touched)"
    f" AND id NOT IN ({_UNSETTLED})",
    f"results WHERE action < ({_FIRST_ACTION})"
    f" AND action NOT IN (SELECT id FROM actions WHERE id < ({_FIRST_ACTION}))",
    "closings WHERE cycle < :first",
    "starts WHERE cycle < :first AND id IN (SELECT start_id FROM ends WHERE cycle < :first)",
    "ends WHERE cycle < :first",
    "verdicts WHERE cycle < :first",
    "decisions WHERE cycle < :first",
    "cycles WHERE id < :first",
    "nodes WHERE id < (SELECT max(id) FROM nodes WHERE cycle <= :first)",
    "modes WHERE id < (SELECT max(id) FROM modes WHERE cycle <= :first)",
)


class Retention:
    """Keeps to the limits of a configuration."""

    def __init__(self, config: JournalConfig, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._keep_seconds = config.keep_days * 86_400.0
        self._most = int(config.max_mb * 1_000_000)
        self._chapter = 0  # the cycle that began the chapter under way; 0: none did
        self._chapter_size = 0  # of the file when it began

    def size(self) -> int:
        """Bytes in use; the log beside the file comes on top, some 4 MB."""
        pages, free, page = (
            int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * page

    def chapter_of(self, cycle: int) -> int:
        """The cycle that began the chapter of the one about to be written, possibly itself."""
        full = self.size() - self._chapter_size > self._most // CHAPTERS
        if self._chapter == 0 or full or cycle - self._chapter >= CHAPTER:
            return cycle
        return self._chapter

    def written(self, cycle: int, chapter: int, wall: float) -> None:
        """A cycle is in the file: remove what has become too much."""
        if chapter == cycle:
            self._chapter, self._chapter_size = chapter, self.size()
            self._cut_by_age(wall)
        while self.size() > self._most and len(chapters := self._oldest(2)) == 2:
            self._cut(chapters[1])
            self._chapter_size = min(self._chapter_size, self.size())

    def _cut_by_age(self, wall: float) -> None:
        """A chapter goes when the next one, too, began too long ago."""
        (first,) = self._connection.execute(
            "SELECT max(id) FROM cycles WHERE chapter = id AND wall < ?",
            (wall - self._keep_seconds,),
        ).fetchone()
        if first is not None and self._oldest(1) != [first]:
            self._cut(first)

    def _oldest(self, count: int) -> Sequence[int]:
        rows = self._connection.execute(
            "SELECT id FROM cycles WHERE chapter = id ORDER BY id LIMIT ?", (count,)
        )
        return [int(number) for (number,) in rows]

    def _cut(self, first: int) -> None:
        """Remove everything before this cycle, and give the space back."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            allow_deletes(self._connection)
            for rows in _OLD:
                self._connection.execute(f"DELETE FROM {rows}", {"first": first})
            forbid_deletes(self._connection)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("PRAGMA incremental_vacuum").fetchall()
