"""Jobs as `squeue -O` prints them: rows that no job name can break or forge, each parsed once.

A row is four texts, each ended by a token that is drawn anew for every call: the fields that
Slurm has checked or made itself, the priority, the job's name, the admin comment. A name could hold
the token only by chance of 2**-72, so that counting texts tells where a row ends, whatever they
hold. A row in which the checked fields do not fit is a doubt. What has not changed is not read
again; the priority stands apart, as Slurm changes those of all waiting jobs at once.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

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

Others = tuple[str, str, str]  # priority, name, comment
ReadRow = tuple[Others, LiveJob]


class Lasting(NamedTuple):
    """The parts of a job that stay while it waits, grouped as LiveJob has them."""

    names: tuple[object, ...]  # name to eligible
    request: tuple[object, ...]  # limit to comment
    het: int
    restarts: int
    nice: int


class JobRows:
    """Reads squeue's rows; a row that is as it was is not read again.

    Of 10,000 rows that takes 8 ms, and 8 more if all have another priority.
    """

    def __init__(self) -> None:
        self._rows: dict[str, ReadRow] = {}  # by the checked fields
        self._lasting: dict[tuple[str, str, str], Lasting] = {}

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

    def parse(self, text: str, token: str) -> tuple[list[LiveJob], list[str]]:
        """A job for each row, array tasks too, and a sentence for each that cannot be read."""
        header, *texts = text.split(token)
        if header.count(_FIELD) != len(_CHANGING) + len(_LASTING) or len(texts) < _TEXTS:
            raise Unreadable(f"squeue: no header, but {text[:200]!a}: is it Slurm's own squeue?")
        texts = texts[_TEXTS - 1 :]
        rest = "".join(texts[len(texts) // _TEXTS * _TEXTS :]).strip()
        doubts = [_doubt(rest)] if rest else []
        if len(self._lasting) > 2 * len(self._rows) + 1000:
            self._lasting.clear()
        found: dict[str, ReadRow] = {}
        known = self._rows
        others = zip(texts[1::_TEXTS], texts[2::_TEXTS], texts[3::_TEXTS], strict=False)
        for checked, other in zip(texts[::_TEXTS], others, strict=False):
            row = known.get(checked)
            if row is None or row[0] != other:
                try:
                    row = self._read_again(checked, other, row)
                except (ValueError, ClusterError):
                    doubts.append(_doubt(checked))
                    continue
            found[checked] = row
        self._rows = found
        return [job for _, job in found.values()], doubts

    def _read_again(self, checked: str, other: Others, row: ReadRow | None) -> ReadRow:
        """A row that is new, or in which something has changed."""
        if row is not None and row[0][1:] == other[1:]:
            return other, _with_priority(row[1], int(other[0]))
        return other, self._read(checked, *other)

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
