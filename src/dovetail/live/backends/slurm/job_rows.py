"""Jobs as `squeue -O` prints them: rows that no job name can break or forge, each parsed once.

A row is three texts, each ended by a token that is drawn anew for every call: the fields that
Slurm has checked or made itself, the job's name, the admin comment. A name could hold the token
only by chance of 2**-72, so that counting texts tells where a row ends, whatever they hold. A row
in which the checked fields do not fit is a doubt. What has not changed is not read again.
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
    "JobID", "JobArrayID", "State", "Reason", "PriorityLong", "StartTime", "EndTime",
)  # fmt: skip
_LASTING = (
    "EligibleTime", "UserName", "Account", "Partition", "QOS", "SubmitTime", "TimeLimit",
    "tres-alloc", "tres-per-job", "tres-per-node", "tres-per-socket", "tres-per-task", "NumTasks",
    "Feature", "ReqNodes", "NodeList", "Dependency", "Reservation", "HetJobID", "RestartCnt",
    "Nice",
)  # fmt: skip
_FIELD = "\x1f"

Row = tuple[str, str, str]  # checked fields, name, comment


class Lasting(NamedTuple):
    """The parts of a job that stay while it waits, grouped as LiveJob has them."""

    names: tuple[object, ...]  # name to eligible
    request: tuple[object, ...]  # limit to comment
    het: int
    restarts: int
    nice: int


class JobRows:
    """Reads squeue's rows; a row that is as it was is not read again.

    Of 10,000 rows that takes 12 ms; if all change, since Slurm computed the priorities anew, 55.
    """

    def __init__(self) -> None:
        self._jobs: dict[Row, LiveJob] = {}
        self._lasting: dict[Row, Lasting] = {}

    def question(self) -> tuple[str, list[str]]:
        """A fresh token, and the words that squeue must be asked with."""
        token = f"#{secrets.token_urlsafe(9)}"
        checked = (f"{name}:{_FIELD}" for name in (*_CHANGING, *_LASTING))
        fields = f"{','.join(checked)}{token},Name:{token},admin_comment:{token}"
        # -r, since without it split array tasks are folded together again and hide their
        # different priorities; `arrays.joined` makes tasks of one record one job.
        # With its header: an answer without one, however it ended, is no answer to this question.
        return token, ["-a", "-r", "-t", "all", "-O", fields]

    def parse(self, text: str, token: str) -> tuple[list[LiveJob], list[str]]:
        """A job for each row, array tasks too, and a sentence for each that cannot be read."""
        header, *texts = text.split(token)
        if header.count(_FIELD) != len(_CHANGING) + len(_LASTING) or len(texts) < 3:
            raise Unreadable(f"squeue: no header, but {text[:200]!a}: is it Slurm's own squeue?")
        texts = texts[2:]
        rest = "".join(texts[len(texts) // 3 * 3 :]).strip()
        doubts = [_doubt((rest, "", ""))] if rest else []
        if len(self._lasting) > 2 * len(self._jobs) + 1000:
            self._lasting.clear()
        jobs: dict[Row, LiveJob] = {}
        known = self._jobs
        for row in zip(texts[::3], texts[1::3], texts[2::3], strict=False):
            job = known.get(row)
            try:
                jobs[row] = job if job is not None else self._read(row)
            except (ValueError, ClusterError):
                doubts.append(_doubt(row))
        self._jobs = jobs
        return list(jobs.values()), doubts

    def _read(self, row: Row) -> LiveJob:
        checked, name, comment = row
        # The line feed of the row before stands before the number.
        number, label, word, reason, priority, start, end, rest = checked.split(_FIELD, 7)
        key = (rest, name, comment)
        part = self._lasting.get(key)
        if part is None:
            part = self._lasting[key] = _read_lasting(key)
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


def _read_lasting(row: Row) -> Lasting:
    checked, name, comment = row
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


def _doubt(row: Row) -> str:
    """What cannot be read, safe to print."""
    number = row[0].partition(_FIELD)[0].strip()
    name = f"job {number}" if number.isdecimal() else "a job"
    return f"squeue: the row of {name} cannot be read: {row[0].strip()[:200]!a}"
