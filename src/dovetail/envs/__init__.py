"""The simulator as Gymnasium environments; importing this registers them."""

from gymnasium import register, registry

from dovetail.envs.batch import IllegalActions, InvalidAction
from dovetail.envs.config import QueuePriorityConfig
from dovetail.envs.pool import Pool
from dovetail.envs.queue_priority import QueuePriority, QueuePriorityVector
from dovetail.envs.vector import FlatObservation
from dovetail.envs.windows import SyntheticWindows, TraceWindows

QUEUE_PRIORITY = "dovetail/QueuePriority-v0"
MIG_PLACEMENT = "dovetail/MigPlacement-v0"
MIG_REPARTITION = "dovetail/MigRepartition-v0"

ENTRIES: dict[str, tuple[str, str | None]] = {
    QUEUE_PRIORITY: (
        "dovetail.envs.queue_priority:QueuePriority",
        "dovetail.envs.queue_priority:QueuePriorityVector",
    ),
    MIG_PLACEMENT: ("dovetail.mig.envs.placement:MigPlacement", None),
    MIG_REPARTITION: ("dovetail.mig.envs.repartition:MigRepartition", None),
}
"""For one environment, and for many that are stepped together."""

for name, (one, many) in ENTRIES.items():
    if name not in registry:
        register(name, entry_point=one, vector_entry_point=many)

__all__ = [
    "MIG_PLACEMENT",
    "MIG_REPARTITION",
    "QUEUE_PRIORITY",
    "FlatObservation",
    "IllegalActions",
    "InvalidAction",
    "Pool",
    "QueuePriority",
    "QueuePriorityConfig",
    "QueuePriorityVector",
    "SyntheticWindows",
    "TraceWindows",
]
