"""Nodes, partitions, reservations and settings as `scontrol -o show` prints them.

>>> nodes_of("NodeName=a State=IDLE+DRAIN Gres=gpu:a100:4 CPUTot=8 RealMemory=1024")[0].usable
False
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from dovetail.live.backends.slurm.requests import (
    gpus_of,
    hosts_of,
    moment_of,
    seconds_of,
    text_of,
    words_of,
)
from dovetail.live.model.snapshot import LiveNode, LivePartition, LiveReservation

_PAIR = re.compile(
    r"(?:^| )(NodeName|State|Gres|GresUsed|CPUTot|RealMemory|Partitions|ActiveFeatures"
    r"|PartitionName|Nodes|PriorityJobFactor|PriorityTier|MaxTime"
    r"|ReservationName|StartTime|EndTime)=(\S*)"
)
_REASON = re.compile(r" Reason=(.*?)(?: \[[^\[\]]*\])?(?: Comment=.*| Extra=.*)?$")
_MARKS = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "!": "POWERING_DOWN",
    "%": "POWERING_DOWN",
    "$": "MAINTENANCE",
    "@": "REBOOT_ISSUED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
}


def _records(text: str, first: str) -> Iterator[dict[str, str]]:
    """Lines that tell of one thing; what operators wrote comes last and changes nothing."""
    for line in text.splitlines():
        if line.startswith(f"{first}="):
            yield dict(reversed(_PAIR.findall(line)))


def nodes_of(text: str) -> tuple[LiveNode, ...]:
    lines = (line for line in text.splitlines() if line.startswith("NodeName="))
    return tuple(_node(tuple(_PAIR.findall(line)), _reason(line)) for line in lines)


def _reason(line: str) -> str:
    found = _REASON.search(line) if " Reason=" in line else None
    return found[1] if found else ""


@lru_cache(maxsize=8192)
def _node(pairs: tuple[tuple[str, str], ...], reason: str) -> LiveNode:
    fields = dict(reversed(pairs))
    gpus, gpu_type = gpus_of(fields.get("Gres", ""))
    state, flags = state_of(fields.get("State", "UNKNOWN"))
    return LiveNode(
        fields["NodeName"],
        state,
        flags,
        gpus,
        gpu_type,
        float(fields.get("CPUTot", "0")),
        float(fields.get("RealMemory", "0")) / 1024,
        words_of(fields.get("Partitions", "")),
        frozenset(words_of(fields.get("ActiveFeatures", ""))),
        gpus_of(fields.get("GresUsed", ""))[0],
        reason,
    )


@lru_cache(maxsize=1024)
def state_of(text: str) -> tuple[str, frozenset[str]]:
    """`IDLE+DRAIN*` as the base state and its flags."""
    words = text.rstrip("".join(_MARKS))
    base, *flags = words.upper().split("+")
    return base, frozenset([*flags, *(_MARKS[mark] for mark in text[len(words) :])])


def partitions_of(text: str) -> tuple[LivePartition, ...]:
    return tuple(
        LivePartition(
            fields["PartitionName"],
            hosts_of(fields.get("Nodes", "")),
            fields.get("State", "UP") == "UP",
            int(fields.get("PriorityJobFactor", "1")),
            int(fields.get("PriorityTier", "1")),
            seconds_of(fields.get("MaxTime", "")),
        )
        for fields in _records(text, "PartitionName")
    )


def reservations_of(text: str) -> tuple[LiveReservation, ...]:
    return tuple(
        LiveReservation(
            fields["ReservationName"],
            hosts_of(text_of(fields.get("Nodes", ""))),
            moment_of(fields.get("StartTime", "")),
            moment_of(fields.get("EndTime", "")),
        )
        for fields in _records(text, "ReservationName")
    )


def settings_of(text: str) -> dict[str, str]:
    """`scontrol show config` as a table."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name.strip(): value.strip() for name, _, value in pairs if name == name.lstrip()}
