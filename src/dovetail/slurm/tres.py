"""Trackable resources: what a job has, as `cpu=8,mem=64G,node=1,gres/gpu=2,gres/gpu:a100=2`.

>>> resources_of("cpu=8,mem=64G,node=1,gres/gpu:a100=2")
Resources(gpus=2, gpu_types=('a100',), nodes=1, cpus=8.0, memory_gb=64.0)
>>> request_of("cpu=6,mem=3000M,node=2", per_node="gpu:v100:3")
Resources(gpus=6, gpu_types=('v100',), nodes=2, cpus=6.0, memory_gb=2.9296875)
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from dovetail.slurm.amounts import amount_of, gigabytes_of
from dovetail.slurm.gres import gpu_counts

_GPU = "gres/gpu"


class Resources(NamedTuple):
    """Of all nodes together; 0: not told."""

    gpus: int
    gpu_types: tuple[str, ...]
    nodes: int
    cpus: float
    memory_gb: float

    @property
    def gpu_type(self) -> str:
        """The types with a bar between them; empty: any."""
        return "|".join(self.gpu_types)


def amounts_of(tres: str) -> dict[str, str]:
    """The text of each amount by its name."""
    return dict(part.split("=", 1) for part in tres.split(",") if "=" in part)


@lru_cache(maxsize=8192)
def resources_of(tres: str) -> Resources:
    """GPUs are counted once: a type's count is part of the count without a type."""
    amounts = amounts_of(tres)
    typed = {
        name.removeprefix(f"{_GPU}:"): _count(text)
        for name, text in amounts.items()
        if name.startswith(f"{_GPU}:")
    }
    return Resources(
        _count(amounts.get(_GPU, "")) or sum(typed.values()),
        tuple(name for name, count in typed.items() if count),
        _count(amounts.get("node", "")),
        _known(amount_of(amounts.get("cpu", ""))),
        _known(gigabytes_of(amounts.get("mem", ""))),
    )


@lru_cache(maxsize=8192)
def request_of(
    tres: str,
    per_job: str = "",
    per_node: str = "",
    per_socket: str = "",
    per_task: str = "",
    tasks: str = "",
) -> Resources:
    """From the trackable resources and, where these do not count GPUs, from what was asked for.

    Slurm counts GPUs among the former only if it has a database and AccountingStorageTRES.
    """
    found = resources_of(tres)
    if found.gpus:
        return found
    # Slurm takes --gpus as the total even where --gpus-per-node is given too. Sockets per
    # node are not told: one is what Slurm assumes where nobody says more.
    number = int(tasks) if tasks.isascii() and tasks.isdecimal() else 1
    asked = ((per_job, 1), (per_node, found.nodes), (per_task, number), (per_socket, found.nodes))
    for gres, units in asked:
        counts = {name: count for name, count in gpu_counts(gres).items() if count}
        if counts:
            gpus = sum(counts.values()) * max(units, 1)
            return found._replace(gpus=gpus, gpu_types=tuple(filter(None, counts)))
    return found


def _count(text: str) -> int:
    return round(_known(amount_of(text)))


def _known(amount: float) -> float:
    return 0.0 if math.isnan(amount) else amount
