"""What a learned allocator sees of a class of equal nodes: 21 numbers from 0 to 1.

| feature        | formula                                                               |
|----------------|-----------------------------------------------------------------------|
| free           | free GPUs / GPUs of the node                                          |
| left           | GPUs free after the chunk / GPUs of the node                          |
| filled         | 1 if the chunk takes all that is free                                 |
| idle           | 1 if nothing runs there                                               |
| free_count     | free GPUs / (free GPUs + 8)                                           |
| chunk          | GPUs of the chunk / (GPUs of the chunk + 8)                           |
| cpus_left      | CPUs free after the chunk / CPUs of the node                          |
| memory_left    | memory free after the chunk / memory of the node                      |
| speed          | speed of the GPU type / that of the fastest that the job may use      |
| run            | log(1 + run / 10 min) / log(1 + 30 d / 10 min)                        |
| busy           | the same of the seconds until a node would be idle, mean of the class |
| busy_spread    | the same of the difference between least and most                     |
| later          | the same of the run beyond the mean: how much later a node is idle    |
| sooner         | the same of the mean beyond the run                                   |
| nodes          | equal nodes / (equal nodes + 8)                                       |
| shares_switch  | 1 if the gang already has the switch                                  |
| chunks_left    | chunks to be placed after this / (these + 4)                          |
| pressure       | GPUs waited for / (these + GPUs free on this kind)                    |
| usable         | share of the waiting jobs that could use the node as it is            |
| usable_lost    | share of them that no longer could after the chunk                    |
| other_way      | 1 if a gang could run in a way that comes before, as on another type  |
"""

from __future__ import annotations

import math
from typing import Any

from dovetail.compiled.functions import kernel
from dovetail.policies.features import MONTH, Matrix

NODE_FEATURES = (
    "free",
    "left",
    "filled",
    "idle",
    "free_count",
    "chunk",
    "cpus_left",
    "memory_left",
    "speed",
    "run",
    "busy",
    "busy_spread",
    "later",
    "sooner",
    "nodes",
    "shares_switch",
    "chunks_left",
    "pressure",
    "usable",
    "usable_lost",
    "other_way",
)
BRIEF = 600.0
"""Seconds: differences below it hardly count."""


@kernel
def _long(seconds: float) -> float:
    return min(1.0, math.log(1.0 + max(0.0, seconds) / BRIEF) / math.log(1.0 + MONTH / BRIEF))


@kernel
def describe_classes(classes: Any, count: int, out: Matrix) -> None:
    """Write the features of classes (NodeClassFacts) into the columns of `out` [features, classes].

    A job that asks for no CPUs or memory is not told of them: what nodes have is often not known.
    """
    first_way = classes[0].option
    for i in range(count):
        first_way = min(first_way, classes[i].option)
    for i in range(count):
        this = classes[i]
        gpus = max(1, this.gpus)
        left = this.free_gpus - this.chunk_gpus
        out[0, i] = this.free_gpus / gpus
        out[1, i] = left / gpus
        out[2, i] = 1.0 if left == 0 else 0.0
        out[3, i] = 1.0 if this.busy_most <= 0.0 else 0.0
        out[4, i] = this.free_gpus / (this.free_gpus + 8.0)
        out[5, i] = this.chunk_gpus / (this.chunk_gpus + 8.0)
        out[6, i] = out[7, i] = 1.0
        if this.chunk_cpus > 0.0:
            out[6, i] = (this.free_cpus - this.chunk_cpus) / max(this.cpus, 1e-9)
        if this.chunk_memory > 0.0:
            out[7, i] = (this.free_memory - this.chunk_memory) / max(this.memory, 1e-9)
        out[8, i] = this.speed / max(this.fastest, 1e-9)
        out[9, i] = _long(this.run)
        out[10, i] = _long(this.busy_mean)
        out[11, i] = _long(this.busy_most - this.busy_least)
        out[12, i] = _long(this.run - this.busy_mean)
        out[13, i] = _long(this.busy_mean - this.run)
        out[14, i] = this.nodes / (this.nodes + 8.0)
        out[15, i] = 1.0 if this.shares_switch else 0.0
        out[16, i] = this.chunks_left / (this.chunks_left + 4.0)
        asked = this.waiting_gpus + this.reach_gpus
        out[17, i] = this.waiting_gpus / asked if asked > 0 else 0.0
        out[18, i] = this.usable_before
        out[19, i] = this.usable_before - this.usable_after
        gang = this.job_gpus > this.chunk_gpus
        out[20, i] = 1.0 if gang and this.option > first_way else 0.0
