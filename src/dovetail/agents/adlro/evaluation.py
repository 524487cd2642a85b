"""Plays whole episodes, one per seed, under any way to assign: what the tables are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail.agents.adlro.heuristics import Assigner
from dovetail.domain.jobs import Floats
from dovetail.envs.gpu_assignment.batch import AssignmentPool, GpuAssignmentBatch
from dovetail.envs.gpu_assignment.config import GpuAssignmentConfig


@dataclass(frozen=True, slots=True)
class PlayedEpisodes:
    """One value per episode."""

    completion_time: Floats  # seconds, mean over jobs
    throughput: Floats  # jobs an hour
    utilisation: Floats  # share of GPU time


def play(config: GpuAssignmentConfig, seeds: Sequence[int], assign: Assigner) -> PlayedEpisodes:
    """Every seed's episode once, side by side."""
    return play_pool(AssignmentPool(config, seeds), assign)


def play_pool(
    pool: AssignmentPool,
    assign: Assigner,
    watch: Callable[[GpuAssignmentBatch], None] | None = None,
) -> PlayedEpisodes:
    """The same on episodes that are drawn already; `watch` looks on before every decision."""
    count = len(pool)
    batch = GpuAssignmentBatch(pool, count)
    batch.begin({"episode": np.arange(count)})
    found = {name: np.full(count, np.nan) for name in PlayedEpisodes.__dataclass_fields__}
    while any(np.isnan(values).any() for values in found.values()):
        if watch is not None:
            watch(batch)
        batch.step(assign(batch.seen))
        if batch.dones.any():
            ended = batch.ended()
            fresh = batch.dones & np.isnan(found["throughput"])
            for name, values in found.items():
                values[fresh] = ended[name][fresh]
    return PlayedEpisodes(**found)
