"""The simulator as Gymnasium environments; importing this registers them."""

from dovetail.envs.batch import IllegalActions, InvalidAction
from dovetail.envs.catalogue import (
    ENVIRONMENTS,
    GPU_ASSIGNMENT,
    MIG_PLACEMENT,
    MIG_REPARTITION,
    MULTI_AGENT,
    QUEUE_PRIORITY,
    SELECTOR_ALLOCATOR,
    register_all,
)
from dovetail.envs.config import QueuePriorityConfig
from dovetail.envs.pool import Pool
from dovetail.envs.queue_priority import QueuePriority, QueuePriorityVector
from dovetail.envs.vector import FlatObservation
from dovetail.envs.windows import SyntheticWindows, TraceWindows

register_all()

__all__ = [
    "ENVIRONMENTS",
    "GPU_ASSIGNMENT",
    "MIG_PLACEMENT",
    "MIG_REPARTITION",
    "MULTI_AGENT",
    "QUEUE_PRIORITY",
    "SELECTOR_ALLOCATOR",
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
