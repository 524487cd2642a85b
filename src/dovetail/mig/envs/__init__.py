"""Sliced GPUs as Gymnasium environments; `import dovetail.envs` registers their names."""

from dovetail.mig.envs.config import MigPlacementConfig, MigRepartitionConfig
from dovetail.mig.envs.placement import MigPlacement
from dovetail.mig.envs.placement_batch import MigPlacementBatch, MigPlacementVector
from dovetail.mig.envs.repartition import (
    MigRepartition,
    MigRepartitionBatch,
    MigRepartitionVector,
)

__all__ = [
    "MigPlacement",
    "MigPlacementBatch",
    "MigPlacementConfig",
    "MigPlacementVector",
    "MigRepartition",
    "MigRepartitionBatch",
    "MigRepartitionConfig",
    "MigRepartitionVector",
]
