"""What Slurm says of a partition, in slurm.conf and by `scontrol show partition` alike."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dovetail.domain.limits import Each, Limit
from dovetail.slurm.amounts import amount_of
from dovetail.slurm.durations import seconds_of
from dovetail.slurm.host_lists import expand
from dovetail.slurm.words import text_of
from dovetail.traces.clusters.shape import PartitionFacts, Shape

_BILLED = {"cpu": "cpu", "mem": "memory_gb", "gres/gpu": "gpu", "node": "node"}


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
    )
    sharing = fields.get("oversubscribe", fields.get("shared", "")).upper()
    if sharing.startswith(("FORCE", "YES:")) and not sharing.endswith(":1"):
        shape.notes.append(f"partition {name}: jobs share CPUs ({sharing}), which is not replayed")
    shape.partition(name, None if listed.upper() == "ALL" else expand(listed), facts)
    minutes = seconds_of(fields.get("maxtime", "")) / 60.0
    nodes = _whole(fields.get("maxnodes", ""), 0)
    if math.isfinite(minutes) or nodes:
        shape.limits.append(
            Limit(
                partitions=(name,),
                each=Each.JOB,
                minutes=minutes if math.isfinite(minutes) else math.inf,
                nodes=nodes or math.inf,
            )
        )


def _billing(text: str, partition: str, shape: Shape) -> tuple[tuple[str, float], ...]:
    """Of `CPU=1.0,Mem=0.25G,GRES/gpu=2.0`: what a CPU, a GB, a GPU and a node count for."""
    found: dict[str, float] = {}
    for word in text_of(text).strip('"').split(","):
        what, _, weight = word.strip().lower().partition("=")
        name = _BILLED.get(what)
        # A unit behind the weight is that of the memory: MB where there is none.
        value = amount_of(weight.rstrip("kmgtp"))
        if name == "memory_gb":
            value *= amount_of(f"1{(weight[-1:].upper() if weight[-1:].isalpha() else 'M')}") ** -1
            value *= amount_of("1G")
        if name is not None and math.isfinite(value):
            found[name] = value
        elif what:
            shape.notes.append(f"partition {partition}: billing of {what} is not replayed")
    return tuple(found.items())


def _whole(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else default
