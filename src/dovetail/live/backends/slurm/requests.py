"""What jobs ask for and nodes have, in Slurm's words, as numbers.

>>> request_of("cpu=6,mem=3000M,node=1,gres/gpu=6", "", "", "", "", "1").gpus
6
>>> seconds_of("1-00:30:00")
88200.0
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from dovetail.live.model.snapshot import LiveJob
from dovetail.traces.clusters.hostlist import expand

NOTHING = frozenset({"", "(null)", "N/A", "NULL", "None", "n/a", "none"})
_UNITS = {"K": 1 / 1024**2, "M": 1 / 1024, "G": 1.0, "T": 1024.0, "P": 1024.0**2}
_AMOUNT = re.compile(r"([\d.]+)([KMGTP]?)")
_GPU_TRES = re.compile(r"gres/gpu(?::([^=,]+))?=(\d+)")
_GRES = re.compile(
    r"(?:gres[:/])?gpu(?:[:=]([^:=,()]*[^\d:=,()][^:=,()]*))?(?:[:=](\d+))?(?=[,(]|$)"
)


class Request(NamedTuple):
    """Of the whole job; or of what it has, once it runs."""

    gpus: int
    gpu_type: str
    nodes: int
    cpus: float
    memory_gb: float


@lru_cache(maxsize=8192)
def request_of(
    tres: str, per_job: str, per_node: str, per_socket: str, per_task: str, tasks: str
) -> Request:
    """From the trackable resources and, where these do not count GPUs, from what was asked for.

    Slurm counts GPUs among the former only if it has a database and AccountingStorageTRES.
    """
    amounts = dict(part.split("=", 1) for part in tres.split(",") if "=" in part)
    nodes = int(_number(amounts.get("node", "")))
    gpus, gpu_type = _gpus_of_tres(tres)
    if not gpus:
        number = int(tasks) if tasks.isdecimal() else 1
        # Slurm takes --gpus as the total even where --gpus-per-node is given too. Sockets per
        # node are not told: one is what Slurm assumes where nobody says more.
        asked = ((per_job, 1), (per_node, nodes), (per_task, number), (per_socket, nodes))
        for gres, units in asked:
            count, gpu_type = gpus_of(gres)
            if count:
                gpus = count * max(units, 1)
                break
    return Request(
        gpus, gpu_type, nodes, _number(amounts.get("cpu", "")), _gigabytes(amounts.get("mem", ""))
    )


@lru_cache(maxsize=8192)
def gpus_of(gres: str) -> tuple[int, str]:
    """GPUs of all types together and the types: `gpu:a100:4(IDX:0-3),gpu:h100:1`, 5, a100|h100."""
    count, kinds = 0, []
    for kind, number in _GRES.findall(gres):
        count += int(number or 1)
        if kind and number != "0":
            kinds.append(kind)
    return count, "|".join(dict.fromkeys(kinds))


def _gpus_of_tres(tres: str) -> tuple[int, str]:
    total, typed, kinds = 0, 0, []
    for kind, number in _GPU_TRES.findall(tres):
        if kind:
            kinds.append(kind)
            typed += int(number)
        else:
            total = int(number)
    return total or typed, "|".join(kinds)


def _number(text: str) -> float:
    match = _AMOUNT.fullmatch(text)
    # Large counts come as 12.5K.
    return float(match[1]) * {"": 1, "K": 1e3, "M": 1e6}.get(match[2], 1e9) if match else 0.0


def _gigabytes(text: str) -> float:
    match = _AMOUNT.fullmatch(text)
    return float(match[1]) * _UNITS[match[2] or "M"] if match else 0.0


@lru_cache(maxsize=4096)
def seconds_of(text: str) -> float:
    """`[days-]hours:minutes:seconds` or `minutes:seconds`; NaN: no limit, or not known."""
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(part.isdecimal() for part in parts) or (dash and not days.isdecimal()):
        return math.nan
    while dash and len(parts) < 3:
        parts.append("0")
    seconds = 0
    for part in parts:
        seconds = seconds * 60 + int(part)
    # A bare number are minutes.
    seconds *= 60 if len(parts) == 1 else 1
    return float(seconds + 86400 * int(days or 0))


def moment_of(text: str) -> float:
    """Seconds since 1970; NaN: not known or never."""
    return float(text) if text.isdecimal() and text != "0" else math.nan


@lru_cache(maxsize=4096)
def hosts_of(text: str) -> tuple[str, ...]:
    """The names of a host list; a list that cannot be read is an error."""
    return () if text in NOTHING else tuple(expand(text))


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[str, ...]:
    return () if text in NOTHING else tuple(part for part in text.split(",") if part)


def text_of(text: str) -> str:
    """A value, without Slurm's words for nothing."""
    return "" if text in NOTHING else text


def uneven(job: LiveJob, counts: tuple[int, ...]) -> tuple[int, ...]:
    """GPUs on each of the job's hosts; nothing where they are spread evenly or do not add up."""
    fits = len(counts) == len(job.hosts) and sum(counts) == job.gpus and min(counts) >= 0
    return counts if fits and len(set(counts)) > 1 else ()


GOING = frozenset({"RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING"})
"""States in which the end that Slurm tells is only what the limit allows."""
PLAIN = ("PENDING", "RUNNING", "COMPLETED")
HELD_ELSEWHERE = frozenset(
    {"REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
)
STILL_RUNNING = frozenset({"RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "UPDATE_DB"})


def base_state(words: str | Sequence[str]) -> str:
    """One word for a job's state and its flags; a job that waits to be requeued is pending."""
    if words in PLAIN:
        return str(words)
    flags = [words] if isinstance(words, str) else list(words)
    for going in ("COMPLETING", "CONFIGURING"):
        if going in flags:
            return going
    if HELD_ELSEWHERE.intersection(flags):
        return "PENDING"
    plain = [flag for flag in flags if flag not in STILL_RUNNING]
    return plain[0] if plain else "RUNNING"
