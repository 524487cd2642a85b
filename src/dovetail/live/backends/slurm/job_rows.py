"""Jobs as `squeue -O` prints them: rows that no job name can break or forge, each parsed once.

A row is four texts, each ended by a token that is drawn anew for every call: the fields that
Slurm has checked or made itself, the priority, the job's name, the admin comment. A name could hold
the token only by chance of 2**-72, so that counting texts tells where a row ends, whatever they
hold. A row in which the checked fields do not fit is a doubt. What has not changed is not read
again; the priority stands apart, as Slurm changes those of all waiting jobs at once.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from itertools import compress, repeat
from operator import itemgetter, ne
from typing import Any, NamedTuple, cast

from dovetail.domain.errors import ClusterError
from dovetail.live.backends.base import Unreadable
from dovetail.live.model.snapshot import NEVER, LiveJob
from dovetail.slurm.durations import seconds_of
from dovetail.slurm.host_lists import hosts_of
from dovetail.slurm.moments import moment_of
from dovetail.slurm.states import GOING, job_state
from dovetail.slurm.tres import request_of
from dovetail.slurm.words import text_of, words_of

_CHANGING = (
    "JobID", "JobArrayID", "State", "Reason", "StartTime", "EndTime",
)  # fmt: skip
_LASTING = (
    "EligibleTime", "UserName", "Account", "Partition", "QOS", "SubmitTime", "TimeLimit",
    "tres-alloc", "tres-per-job", "tres-per-node", "tres-per-socket", "tres-per-task", "NumTasks",
    "Feature", "ReqNodes", "NodeList", "Dependency", "Reservation", "HetJobID", "RestartCnt",
    "Nice",
)  # fmt: skip
_FIELD = "\x1f"

_TEXTS = 4
_PRIORITY = LiveJob._fields.index("priority")

Texts = tuple[str, str]  # name, comment
ReadRow = tuple[LiveJob, Texts, int]  # the number of the job again: it is near at hand here
_UNREAD: tuple[None, None, int] = (None, None, -1)
_JOB, _TEXT, _NUMBER = map(itemgetter, range(3))
Told = Callable[[], Mapping[int, object]]


class Lasting(NamedTuple):
    """The parts of a job that stay while it waits, grouped as LiveJob has them."""

    names: tuple[object, ...]  # name to eligible
    request: tuple[object, ...]  # limit to comment
    het: int
    restarts: int
    nice: int


class JobRows:
    """Reads squeue's rows; a row that is as it was is not read again.

    Of 10,000 rows that takes 7 ms, whatever their priorities. Where these change, a job that has
    its priority from elsewhere stays the same object, by which others know that it is as it was.
    """

    def __init__(self) -> None:
        self._rows: dict[str, ReadRow] = {}  # by the checked fields
        self._lasting: dict[tuple[str, str, str], Lasting] = {}
        self._held: frozenset[int] = frozenset()  # jobs that were read with priority 0

    def question(self) -> tuple[str, list[str]]:
        """A fresh token, and the words that squeue must be asked with."""
        token = f"#{secrets.token_urlsafe(9)}"
        checked = (f"{name}:{_FIELD}" for name in (*_CHANGING, *_LASTING))
        texts = (f"{name}:{token}" for name in ("PriorityLong", "Name", "admin_comment"))
        fields = f"{','.join(checked)}{token},{','.join(texts)}"
        # -r, since without it split array tasks are folded together again and hide their
        # different priorities; `arrays.joined` makes tasks of one record one job.
        # With its header: an answer without one, however it ended, is no answer to this question.
        return token, ["-a", "-r", "-t", "all", "-O", fields]

    def parse(self, text: str, token: str, told: Told = dict) -> tuple[list[LiveJob], list[str]]:
        """A job for each row, array tasks too, and a sentence for each that cannot be read.

        told: of which jobs sprio tells the priority; asked once there is an answer to read. These
        may have an older one here, though never 0 for another or another for 0: that says who is
        held.
        """
        header, *texts = text.split(token)
        if header.count(_FIELD) != len(_CHANGING) + len(_LASTING) or len(texts) < _TEXTS:
            raise Unreadable(f"squeue: no header, but {text[:200]!a}: is it Slurm's own squeue?")
        texts = texts[_TEXTS - 1 :]
        whole = len(texts) // _TEXTS * _TEXTS
        rest = "".join(texts[whole:]).strip()
        if len(self._lasting) > 2 * len(self._rows) + 1000:
            self._lasting.clear()
        checked, priorities = texts[:whole:_TEXTS], texts[1:whole:_TEXTS]
        others = [*zip(texts[2:whole:_TEXTS], texts[3:whole:_TEXTS], strict=True)]
        rows = [*map(self._rows.get, checked, repeat(_UNREAD))]
        unread = self._read_fresh(rows, checked, priorities, others)
        unread += self._renew(rows, priorities, told() if checked else {})
        found = dict(zip(checked, rows, strict=True))
        doubts = [_doubt(rest)] if rest else []
        if unread:
            doubts += [_doubt(checked[number]) for number in sorted(unread)]
            found = {words: row for words, row in found.items() if row is not _UNREAD}
        self._rows = cast(dict[str, ReadRow], found)
        return [*map(_JOB, self._rows.values())], doubts

    def _read_fresh(
        self,
        rows: list[Any],
        checked: Sequence[str],
        priorities: Sequence[str],
        others: Sequence[Texts],
    ) -> list[int]:
        """Read what is new or has changed; which rows cannot be read."""
        unread = []
        for number in [*compress(range(len(rows)), map(ne, map(_TEXT, rows), others))]:
            try:
                job = self._read(checked[number], priorities[number], *others[number])
                rows[number] = job, others[number], job.id
            except (ValueError, ClusterError):
                rows[number] = _UNREAD
                unread.append(number)
        return unread

    def _renew(
        self, rows: list[Any], priorities: Sequence[str], told: Mapping[int, object]
    ) -> list[int]:
        """Give jobs the priorities of this answer, as far as these matter; which are none."""
        known = told.keys()
        looked_at = [at for at, job in enumerate(map(_NUMBER, rows)) if job not in known]
        if self._held or "0" in priorities:
            looked_at += [
                at
                for at, (text, row) in enumerate(zip(priorities, rows, strict=True))
                if text == "0" or row[2] in self._held
            ]
        if not "".join(priorities).isdecimal() or "" in priorities:
            # A word that is no number spoils its row, whether or not it matters.
            looked_at = [*range(len(rows))]
        unread, held = [], set()
        for number in looked_at:
            job, texts, _ = rows[number]
            if job is None:
                continue
            try:
                priority = int(priorities[number])
            except ValueError:
                rows[number] = _UNREAD
                unread.append(number)
                continue
            if priority != job.priority:
                rows[number] = _with_priority(job, priority), texts, job.id
            if priority == 0:
                held.add(job.id)
        self._held = frozenset(held)
        return unread

    def _read(self, checked: str, priority: str, name: str, comment: str) -> LiveJob:
        # The line feed of the row before stands before the number.
        number, label, word, reason, start, end, rest = checked.split(_FIELD, 6)
        key = (rest, name, comment)
        part = self._lasting.get(key)
        if part is None:
            part = self._lasting[key] = _read_lasting(*key)
        state = job_state(word)
        waits = state == "PENDING"
        array, task, _ = label.partition("_")
        return LiveJob._make(
            (
                int(number),
                label,
                state,
                "" if reason == "None" else reason,
                *part.names,
                NEVER if waits else moment_of(start),
                NEVER if waits or state in GOING else moment_of(end),
                *part.request,
                int(array) if task else 0,
                1,
                part.het,
                part.restarts,
                int(priority),
                part.nice,
            )
        )


def _read_lasting(checked: str, name: str, comment: str) -> Lasting:
    (
        eligible, user, account, partitions, qos, submit, limit, tres, per_job, per_node,
        per_socket, per_task, tasks, features, wants, hosts, dependency, reservation, het,
        restarts, nice, _,
    ) = checked.split(_FIELD)  # fmt: skip
    request = request_of(tres, per_job, per_node, per_socket, per_task, tasks)
    people = (name, user, text_of(account), words_of(partitions), text_of(qos))
    return Lasting(
        (*people, moment_of(submit), moment_of(eligible)),
        (
            seconds_of(limit),
            *(request.gpus, request.gpu_type, request.nodes, request.cpus, request.memory_gb),
            text_of(features),
            hosts_of(wants),
            (),
            hosts_of(hosts),
            (),
            text_of(dependency),
            text_of(reservation),
            text_of(comment),
        ),
        int(het) if het.isdecimal() else 0,
        int(restarts),
        int(nice),
    )


def _with_priority(job: LiveJob, priority: int) -> LiveJob:
    """At a third of the price of `_replace`."""
    return LiveJob._make((*job[:_PRIORITY], priority, *job[_PRIORITY + 1 :]))


def _doubt(checked: str) -> str:
    """What cannot be read, safe to print."""
    number = checked.partition(_FIELD)[0].strip()
    name = f"job {number}" if number.isdecimal() else "a job"
    return f"squeue: the row of {name} cannot be read: {checked.strip()[:200]!a}"
