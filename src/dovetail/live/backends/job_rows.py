"""Jobs as `squeue -O` prints them: rows that no job name can break or forge, each parsed once.

rows = JobRows()
token, words = rows.question()
tasks, doubts = rows.parse(commands.ask("squeue", *words), token)

Fields and rows end with a token that is drawn anew for every call: a name could hold it only by
chance of 2**-96. What lasts while a job waits is read once and remembered by its text.
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
    "Name", "UserName", "Account", "Partition", "QOS", "SubmitTime", "TimeLimit", "tres-alloc",
    "tres-per-job", "tres-per-node", "tres-per-socket", "tres-per-task", "NumTasks", "Feature",
    "ReqNodes", "NodeList", "Dependency", "Reservation", "admin_comment", "HetJobID", "RestartCnt",
    "Nice",
)  # fmt: skip
_FIELD, _ROW = "\x1f", "\x1e"


class Lasting(NamedTuple):
    """The parts of a job that stay while it waits, grouped as LiveJob has them."""

    names: tuple[object, ...]  # name to submit
    request: tuple[object, ...]  # limit to comment
    het: int
    restarts: int
    nice: int


class JobRows:
    """Reads squeue's rows; remembers the lasting parts of the last reading, and no others."""

    def __init__(self) -> None:
        self._lasting: dict[str, Lasting] = {}

    def question(self) -> tuple[str, list[str]]:
        """A fresh token, and the words that squeue must be asked with."""
        token = f"#{secrets.token_hex(12)}"
        fields = (f"{name}:{token}" for name in (*_CHANGING, *_LASTING))
        # -r, since without it split array tasks are folded together again and hide their
        # different priorities; `arrays.joined` makes tasks of one record one job.
        return token, ["-h", "-a", "-r", "-t", "all", "-O", f"{','.join(fields)}{token}"]

    def parse(self, text: str, token: str) -> tuple[list[LiveJob], list[str]]:
        """A job for each row, array tasks too, and a sentence for each that cannot be read."""
        # With fixed separators the same text stands for the same job in every call; whoever
        # writes them into a name finds them gone.
        text = text.replace(_FIELD, "?").replace(_ROW, "?")
        rows = text.replace(f"{token}{token}\n", _ROW).replace(token, _FIELD).split(_ROW)
        jobs: list[LiveJob] = []
        doubts: list[str] = []
        lasting: dict[str, Lasting] = {}
        if rows[-1]:
            doubts.append(_doubt(rows[-1]))
        del rows[-1]
        for row in rows:
            try:
                jobs.append(self._read(row, lasting))
            except (ValueError, ClusterError):
                doubts.append(_doubt(row))
        self._lasting = lasting
        return jobs, doubts

    def _read(self, row: str, lasting: dict[str, Lasting]) -> LiveJob:
        number, label, word, reason, priority, eligible, start, end, rest = row.split(_FIELD, 8)
        part = lasting.get(rest)
        if part is None:
            part = lasting[rest] = self._lasting.get(rest) or _read_lasting(rest)
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
    (
        name, user, account, partitions, qos, submit, limit, tres, per_job, per_node, per_socket,
        per_task, tasks, features, wants, hosts, dependency, reservation, comment, het, restarts,
        nice,
    ) = text.split(_FIELD)  # fmt: skip
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
