"""Compiles what most tests need before they start, so that no two workers compile the same.

python -m tests.warm_up    # into the cache that the tests use
"""

from __future__ import annotations

from dovetail.envs.gpu_assignment import AssignmentPool, GpuAssignmentBatch, GpuAssignmentConfig
from dovetail.envs.selector_allocator.vector import SelectorAllocatorVector
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER
from dovetail.mig.policies import PLACERS
from dovetail.mig.simulator import simulate_mig
from dovetail.mig.workload.day import mig_day
from tests.envs.scenes import small_pool
from tests.envs.selector_allocator.scenes import small_pair_pool
from tests.fuzz.worker import warm_up

if __name__ == "__main__":
    warm_up()
    small_pool()
    SelectorAllocatorVector(1, pool=small_pair_pool()).reset()
    GpuAssignmentBatch(AssignmentPool(GpuAssignmentConfig(), [0])).begin()
    simulate_mig(mig_day(seed=0), MIG_DAY_CLUSTER, PLACERS["eft"])
