"""The simulator as Gymnasium environments; importing this registers them."""

from gymnasium import register, registry

from dovetail.envs.batch import InvalidAction, QueuePriorityBatch
from dovetail.envs.config import QueuePriorityConfig
from dovetail.envs.mig_batch import MigPlacementBatch
from dovetail.envs.mig_config import MigPlacementConfig, MigRepartitionConfig
from dovetail.envs.mig_placement import MigPlacement
from dovetail.envs.mig_repartition import MigRepartition, MigRepartitionBatch
from dovetail.envs.pool import Pool
from dovetail.envs.queue_priority import QueuePriority
from dovetail.envs.windows import SyntheticWindows, TraceWindows

QUEUE_PRIORITY = "dovetail/QueuePriority-v0"
MIG_PLACEMENT = "dovetail/MigPlacement-v0"
MIG_REPARTITION = "dovetail/MigRepartition-v0"

ENTRIES = {
    QUEUE_PRIORITY: "dovetail.envs.queue_priority:QueuePriority",
    MIG_PLACEMENT: "dovetail.envs.mig_placement:MigPlacement",
    MIG_REPARTITION: "dovetail.envs.mig_repartition:MigRepartition",
}

for name, entry in ENTRIES.items():
    if name not in registry:
        register(name, entry_point=entry)

__all__ = [
    "MIG_PLACEMENT",
    "MIG_REPARTITION",
    "QUEUE_PRIORITY",
    "InvalidAction",
    "MigPlacement",
    "MigPlacementBatch",
    "MigPlacementConfig",
    "MigRepartition",
    "MigRepartitionBatch",
    "MigRepartitionConfig",
    "Pool",
    "QueuePriority",
    "QueuePriorityBatch",
    "QueuePriorityConfig",
    "SyntheticWindows",
    "TraceWindows",
]
