"""Sliced GPUs as Gymnasium environments; `import dovetail.envs` registers their names."""

from dovetail.mig.envs.batch import MigPlacementBatch
from dovetail.mig.envs.config import MigPlacementConfig, MigRepartitionConfig
from dovetail.mig.envs.placement import MigPlacement
from dovetail.mig.envs.repartition import MigRepartition, MigRepartitionBatch

__all__ = [
    "MigPlacement",
    "MigPlacementBatch",
    "MigPlacementConfig",
    "MigRepartition",
    "MigRepartitionBatch",
    "MigRepartitionConfig",
]
