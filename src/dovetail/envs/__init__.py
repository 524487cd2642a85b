"""The simulator as Gymnasium environments; importing this registers them."""

from gymnasium import register, registry

from dovetail.envs.batch import InvalidAction, QueuePriorityBatch
from dovetail.envs.config import QueuePriorityConfig
from dovetail.envs.pool import Pool
from dovetail.envs.queue_priority import QueuePriority
from dovetail.envs.windows import SyntheticWindows, TraceWindows

QUEUE_PRIORITY = "dovetail/QueuePriority-v0"

if QUEUE_PRIORITY not in registry:
    register(QUEUE_PRIORITY, entry_point="dovetail.envs.queue_priority:QueuePriority")

__all__ = [
    "QUEUE_PRIORITY",
    "InvalidAction",
    "Pool",
    "QueuePriority",
    "QueuePriorityBatch",
    "QueuePriorityConfig",
    "SyntheticWindows",
    "TraceWindows",
]
