"""What Slurm says of a partition, in slurm.conf and by `scontrol show partition` alike."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dovetail.domain.access import Access
from dovetail.domain.limits import Each, Limit
from dovetail.slurm.billing_weights import billing_of
from dovetail.slurm.durations import seconds_of
from dovetail.slurm.host_lists import expand
from dovetail.slurm.words import text_of, words_of
from dovetail.traces.clusters.shape import PartitionFacts, Shape
from dovetail.traces.clusters.unread import PARTITION_KEYS


def add_partition(shape: Shape, fields: Mapping[str, str]) -> None:
    """A partition by its fields, their names in small letters."""
    name, listed = fields["partitionname"], fields.get("nodes", "")
    # `Priority` of old versions is both of what is told apart today.
    both = fields.get("priority", "1")
    facts = PartitionFacts(
        priority=float(_whole(fields.get("priorityjobfactor", both), 1)),
        tier=_whole(fields.get("prioritytier", both), 1),
        exclusive=fields.get("oversubscribe", fields.get("shared", "")).upper() == "EXCLUSIVE",
        qos=text_of(fields.get("qos", "")),
        billing=_billing(fields.get("tresbillingweights", ""), name, shape),
        default_minutes=_minutes(fields.get("defaulttime", "")) or math.inf,
        access=Access(
            accounts=_names(fields.get("allowaccounts", "")),
            not_accounts=_names(fields.get("denyaccounts", "")),
            qos=_names(fields.get("allowqos", "")),
            not_qos=_names(fields.get("denyqos", "")),
        ),
    )
    for key in PARTITION_KEYS:
        shape.unread.add(key, fields.get(key.lower(), ""), f"partition {name}")
    sharing = fields.get("oversubscribe", fields.get("shared", "")).upper()
    if sharing.startswith(("FORCE", "YES:")) and not sharing.endswith(":1"):
        shape.notes.append(f"partition {name}: jobs share CPUs ({sharing}), which is not replayed")
    shape.partition(name, None if listed.upper() == "ALL" else expand(listed), facts)
    minutes, nodes = _minutes(fields.get("maxtime", "")), _whole(fields.get("maxnodes", ""), 0)
    if math.isfinite(minutes) or nodes:
        shape.limits.append(
            Limit(partitions=(name,), each=Each.JOB, minutes=minutes, nodes=nodes or math.inf)
        )
    cpus, memory = (_whole(fields.get(key, ""), 0) for key in ("maxcpuspernode", "maxmempernode"))
    if cpus or memory:
        shape.limits.append(
            Limit(
                partitions=(name,),
                each=Each.NODE,
                cpus=cpus or math.inf,
                memory_gb=memory / 1024.0 or math.inf,
            )
        )
    if cpus:
        shape.notes.append(
            f"partition {name}: MaxCPUsPerNode bounds each job, not all its jobs on a node together"
        )


def _minutes(text: str) -> float:
    """Infinite where there is no limit."""
    seconds = seconds_of(text)
    return seconds / 60.0 if math.isfinite(seconds) else math.inf


def _names(text: str) -> tuple[str, ...]:
    """Those of a list; empty: it says nothing."""
    return () if text.upper() in ("ALL", "NONE") else words_of(text)


def _billing(text: str, partition: str, shape: Shape) -> tuple[tuple[str, float], ...]:
    found, others = billing_of(text)
    shape.notes += [f"partition {partition}: billing of {what} is not replayed" for what in others]
    return tuple(found.items())


def _whole(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else default
