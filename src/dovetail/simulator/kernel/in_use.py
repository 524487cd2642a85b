"""For how long GPUs have been in use, and for how long they will be: sums over running jobs.

Kept in whole numbers (1/1024 GPU times seconds), so that they are the same in whatever order jobs
came and went, and in a simulation that begins in the middle.
"""

from __future__ import annotations

import math

from dovetail.compiled.functions import inner
from dovetail.simulator.job_facts import SIZE_STEPS
from dovetail.simulator.kernel.rows import RunRow, World
from dovetail.simulator.kernel.state import cluster_facts

YEAR = 365 * 86_400.0
"""Seconds: whatever is to run for longer counts as this long."""


@inner
def count_in_use(w: World, mine: RunRow, size: float, sign: int) -> None:
    """A running job begins to count, or ends to: before and after its expected end changes, too."""
    steps = sign * int(size * SIZE_STEPS)
    w.used_size += steps
    w.used_since += steps * math.floor(mine.start)
    w.used_until += steps * math.floor(min(mine.expected, mine.start + YEAR))


@inner
def describe_use(w: World) -> None:
    """Means over the GPUs in use; 0 if none is."""
    site = cluster_facts(w, 0)
    site.held = site.free_in = 0.0
    if w.used_size > 0:
        site.held = max(0.0, w.now - w.used_since / w.used_size)
        site.free_in = max(0.0, w.used_until / w.used_size - w.now)
