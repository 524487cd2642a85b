"""Jobs as `squeue -O` prints them: rows that no job name can break or forge, each parsed once.

rows = JobRows()
token, words = rows.question()
tasks, doubts = rows.parse(commands.ask("squeue", *words), token)

Texts that people write stand between tokens that are drawn anew for every call: a name could hold
one only by chance of 2**-72. All else is words that Slurm has checked or made, apart by a control
character; a row in which that does not fit is a doubt. What lasts while a job waits is read once
and remembered by its text.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

from dovetail.domain.errors import ClusterError
from dovetail.domain.snapshot import NEVER, LiveJob
from dovetail.live.backends.requests import (
    GOING,
    base_state,
    hosts_of,
    moment_of,
    request_of,
    seconds_of,
    text_of,
    words_of,
)

_CHANGING = (
    "JobID", "JobArrayID", "State", "Reason", "PriorityLong", "EligibleTime", "StartTime",
    "EndTime",
)  # fmt: skip
_LASTING = (
    "UserName", "Account", "Partition", "QOS", "SubmitTime", "TimeLimit", "tres-alloc",
    "tres-per-job", "tres-per-node", "tres-per-socket", "tres-per-task", "NumTasks", "Feature",
    "ReqNodes", "NodeList", "Dependency", "Reservation", "HetJobID", "RestartCnt", "Nice",
)  # fmt: skip
_WRITTEN = ("Name", "admin_comment")
_FIELD, _TEXT = "\x1f", "\x1e"
_ROW = f"{_TEXT}{_TEXT}\n"


class Lasting(NamedTuple):
    """The parts of a job that stay while it waits, grouped as LiveJob has them."""

    names: tuple[object, ...]  # name to submit
    request: tuple[object, ...]  # limit to comment
    het: int
    restarts: int
    nice: int


class JobRows:
    """Reads squeue's rows; a row that is as it was is not read again.

    Of 10,000 rows that costs 5 ms; if all change, since Slurm computed the priorities anew, 45.
    """

    def __init__(self) -> None:
        self._jobs: dict[str, LiveJob] = {}
        self._lasting: dict[str, Lasting] = {}

    def question(self) -> tuple[str, list[str]]:
        """A fresh token, and the words that squeue must be asked with."""
        # 72 bits: with as many names as there are jobs nobody guesses it within a call.
        token = f"#{secrets.token_urlsafe(9)}"
        checked = (f"{name}:{_FIELD}" for name in (*_CHANGING, *_LASTING))
        written = (f"{name}:{token}" for name in _WRITTEN)
        fields = f"{','.join(checked)}{token},{','.join(written)}{token}"
        # -r, since without it split array tasks are folded together again and hide their
        # different priorities; `arrays.joined` makes tasks of one record one job.
        return token, ["-h", "-a", "-r", "-t", "all", "-O", fields]

    def parse(self, text: str, token: str) -> tuple[list[LiveJob], list[str]]:
        """A job for each row, array tasks too, and a sentence for each that cannot be read."""
        # With fixed separators the same text stands for the same job in every call; whoever
        # writes one into a name finds it gone.
        rows = text.replace(_TEXT, "?").replace(token, _TEXT).split(_ROW)
        doubts = [_doubt(rows[-1])] if rows[-1] else []
        del rows[-1]
        if len(self._lasting) > 2 * len(rows) + 1000:
            self._lasting.clear()
        jobs: dict[str, LiveJob] = {}
        known = self._jobs
        for row in rows:
            job = known.get(row)
            try:
                jobs[row] = job if job is not None else self._read(row)
            except (ValueError, ClusterError):
                doubts.append(_doubt(row))
        self._jobs = jobs
        return list(jobs.values()), doubts

    def _read(self, row: str) -> LiveJob:
        number, label, word, reason, priority, eligible, start, end, rest = row.split(_FIELD, 8)
        part = self._lasting.get(rest)
        if part is None:
            part = self._lasting[rest] = _read_lasting(rest)
        state = base_state(word)
        waits = state == "PENDING"
        array, task, _ = label.partition("_")
        return LiveJob._make(
            (
                int(number),
                label,
                state,
                "" if reason == "None" else reason,
                *part.names,
                moment_of(eligible),
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


def _read_lasting(text: str) -> Lasting:
    checked, name, comment = text.split(_TEXT)
    (
        user, account, partitions, qos, submit, limit, tres, per_job, per_node, per_socket,
        per_task, tasks, features, wants, hosts, dependency, reservation, het, restarts, nice, _,
    ) = checked.split(_FIELD)  # fmt: skip
    request = request_of(tres, per_job, per_node, per_socket, per_task, tasks)
    return Lasting(
        (name, user, text_of(account), words_of(partitions), text_of(qos), moment_of(submit)),
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


def _doubt(row: str) -> str:
    """What cannot be read, safe to print."""
    number = row.partition(_FIELD)[0]
    name = f"job {number}" if number.isdecimal() else "a job"
    return f"squeue: the row of {name} cannot be read: {row[:200]!a}"
