"""Small pools of windows for two agents."""

from __future__ import annotations

from typing import Any

from dovetail.envs.selector_allocator.config import SelectorAllocatorConfig
from dovetail.envs.selector_allocator.pool import SelectorAllocatorPool
from dovetail.envs.windows import SyntheticWindows


def small_pair_pool(**settings: Any) -> SelectorAllocatorPool:
    """Four windows of 48 jobs on a congested cluster of two GPU types."""
    source = SyntheticWindows(cluster="4x8:v100,3x4:p100", jobs=1200, load=1.1, length=48)
    return SelectorAllocatorPool(SelectorAllocatorConfig(source, pool=4, **settings))
