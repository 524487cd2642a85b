"""Nodes, partitions and reservations as `scontrol -o show` prints them.

>>> nodes_of("NodeName=a State=IDLE+DRAIN Gres=gpu:a100:4 CPUTot=8 RealMemory=1024")[0].usable
False
"""

from __future__ import annotations

import re
from functools import lru_cache

from dovetail.live.model.snapshot import LiveNode, LivePartition, LiveReservation
from dovetail.slurm.billing_weights import billing_of
from dovetail.slurm.durations import seconds_of
from dovetail.slurm.gres import gpus_of
from dovetail.slurm.host_lists import hosts_of
from dovetail.slurm.moments import moment_of
from dovetail.slurm.show import fields_of, records_of, texts_of
from dovetail.slurm.states import node_state
from dovetail.slurm.words import text_of, words_of

_NODE = (
    "NodeName", "State", "Gres", "GresUsed", "CPUTot", "RealMemory", "Partitions", "ActiveFeatures",
)  # fmt: skip
_PARTITION = ("PartitionName", "Nodes", "State", "PriorityJobFactor", "PriorityTier", "MaxTime")
_RESERVATION = ("ReservationName", "Nodes", "StartTime", "EndTime")
_PASSING = (" CPULoad=", " FreeMem=", " LastBusyTime=")
"""In the order in which Slurm prints them."""
_REASON = re.compile(r" Reason=(.*?)(?: \[[^\[\]]*\])?(?: Comment=.*| Extra=.*)?$")


def nodes_of(text: str) -> tuple[LiveNode, ...]:
    return NodeRecords().parse(text)


class NodeRecords:
    """Reads records of nodes; one that is as it was, its load apart, is not read again.

    Of 500 nodes that takes 1 ms instead of 12.
    """

    def __init__(self) -> None:
        self._nodes: dict[tuple[str, ...], LiveNode] = {}

    def parse(self, text: str) -> tuple[LiveNode, ...]:
        known, nodes = self._nodes, []
        self._nodes = {}
        for record in texts_of(text, "NodeName"):
            key = _lasting(record)
            node = known.get(key)
            if node is None:
                node = _node(tuple(fields_of(record, _NODE).items()), _reason(record))
            self._nodes[key] = node
            nodes.append(node)
        return tuple(nodes)


def _lasting(record: str) -> tuple[str, ...]:
    """A record without the figures that change all the time and say nothing to us."""
    kept = []
    for name in _PASSING:
        before, _, rest = record.partition(name)
        _, _, record = rest.partition(" ")
        kept.append(before)
    return (*kept, record)


def _reason(line: str) -> str:
    found = _REASON.search(line.rstrip("\n")) if " Reason=" in line else None
    return found[1] if found else ""


@lru_cache(maxsize=8192)
def _node(pairs: tuple[tuple[str, str], ...], reason: str) -> LiveNode:
    fields = dict(pairs)
    gpus, gpu_type = gpus_of(fields.get("Gres", ""))
    state, flags = node_state(fields.get("State", "UNKNOWN"))
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
        for fields in records_of(text, _PARTITION)
    )


def billing_of_partitions(text: str) -> dict[str, tuple[tuple[str, float], ...]]:
    """What accounts are charged for in each partition."""
    return {
        fields["PartitionName"]: tuple(billing_of(fields.get("TRESBillingWeights", ""))[0].items())
        for fields in records_of(text, ("PartitionName", "TRESBillingWeights"))
    }


def reservations_of(text: str) -> tuple[LiveReservation, ...]:
    return tuple(
        LiveReservation(
            fields["ReservationName"],
            hosts_of(text_of(fields.get("Nodes", ""))),
            moment_of(fields.get("StartTime", "")),
            moment_of(fields.get("EndTime", "")),
        )
        for fields in records_of(text, _RESERVATION)
    )
