"""The simulator as Gymnasium environments; importing this registers them."""

from gymnasium import register, registry

from dovetail.envs.batch import InvalidAction, QueuePriorityBatch
from dovetail.envs.config import QueuePriorityConfig
from dovetail.envs.pool import Pool
from dovetail.envs.queue_priority import QueuePriority
from dovetail.envs.windows import SyntheticWindows, TraceWindows

QUEUE_PRIORITY = "dovetail/QueuePriority-v0"
MIG_PLACEMENT = "dovetail/MigPlacement-v0"
MIG_REPARTITION = "dovetail/MigRepartition-v0"

ENTRIES = {
    QUEUE_PRIORITY: "dovetail.envs.queue_priority:QueuePriority",
    MIG_PLACEMENT: "dovetail.mig.envs.placement:MigPlacement",
    MIG_REPARTITION: "dovetail.mig.envs.repartition:MigRepartition",
}

for name, entry in ENTRIES.items():
    if name not in registry:
        register(name, entry_point=entry)

__all__ = [
    "MIG_PLACEMENT",
    "MIG_REPARTITION",
    "QUEUE_PRIORITY",
    "InvalidAction",
    "Pool",
    "QueuePriority",
    "QueuePriorityBatch",
    "QueuePriorityConfig",
    "SyntheticWindows",
    "TraceWindows",
]
