"""Clusters of GPUs that are cut into slices: the model of each GPU, and how it is cut.

cluster = MigCluster.parse("8xa100-40:1,1,2,2,3,3,12,12")
mixed = MigCluster.parse("2xa100-40:1,12 + 2xa30-24:1,4")
whole = MigCluster.parse("8xa100-40")            # one slice per GPU: no sharing
listed = MigCluster.open("cluster.toml")         # nodes with type = "a100-40" and mig = [1, 12]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from dovetail.domain.cluster_toml import load_cluster
from dovetail.domain.errors import ClusterError
from dovetail.mig.gpus.model import GpuModel
from dovetail.mig.gpus.profiles import MigSlice
from dovetail.mig.gpus.table import GPU_MODELS

MOST_SLICES = 7
"""No GPU is cut into more instances, nor has it more compute slices."""

MOST_GPUS = 10_000
"""Of a cluster; a simulation looks at all of them at every event."""

_PART = re.compile(r"(\d{1,9})x([\w.-]{1,60}?)(?::([\d,]+))?", re.ASCII)


@dataclass(frozen=True)
class MigCluster:
    """GPUs side by side, each of a model and in one of its configurations (numbers from 1)."""

    models: tuple[GpuModel, ...]  # of each GPU
    configurations: tuple[int, ...]  # of each GPU

    def __post_init__(self) -> None:
        if len(self.models) != len(self.configurations) or not self.models:
            raise ClusterError(
                f"{len(self.models)} GPUs and {len(self.configurations)} configurations: "
                "expected one for each GPU, and at least one GPU"
            )
        for kind, number in zip(self.models, self.configurations, strict=True):
            if not 1 <= number <= len(kind.configurations):
                raise ClusterError(
                    f"GPU model {kind.name} has no configuration {number}, "
                    f"expected 1 to {len(kind.configurations)}"
                )

    @classmethod
    def parse(cls, text: str) -> MigCluster:
        """GPUs as "8xa100-40:1,1,2,2,3,3,12,12"; several models are joined by "+"."""
        models: list[GpuModel] = []
        numbers: list[int] = []
        for part in text.split("+"):
            found = _PART.fullmatch(part.strip())
            if found is None:
                raise ClusterError(
                    f"cannot read {part.strip()[:60]!r} as GPUs; write 8xa100-40:1,1,2,2,3,3,12,12 "
                    "(a number, a model, a configuration for each GPU) or 8xa100-40 for whole GPUs"
                )
            count = int(found[1])
            listed = [int(number[:9]) for number in (found[3] or "1").split(",") if number]
            if len(models) + count > MOST_GPUS:
                raise ClusterError(f"{text[:60]!r}: more than {MOST_GPUS:,} GPUs; name fewer")
            if len(listed) not in (1, count):
                raise ClusterError(
                    f"{part.strip()!r} names {len(listed)} configurations for {count} GPUs; "
                    "name one for each, or one for all"
                )
            models += [GPU_MODELS[found[2]]] * count
            numbers += listed * (count // len(listed))
        return cls(tuple(models), tuple(numbers))

    @classmethod
    def open(cls, text: str) -> MigCluster:
        """What `parse` reads, or the nodes of a cluster file (TOML)."""
        if not text.endswith(".toml"):
            return cls.parse(text)
        models: list[GpuModel] = []
        numbers: list[int] = []
        for node in load_cluster(text).nodes:
            if node.gpu_type not in GPU_MODELS:
                raise ClusterError(
                    f"{text}: node {node.name} has GPUs of type {node.gpu_type!r}, which cannot be "
                    f"cut; types are {', '.join(GPU_MODELS)}"
                )
            models += [GPU_MODELS[node.gpu_type]] * node.gpus
            numbers += node.mig or (1,) * node.gpus
        if len(models) > MOST_GPUS:
            raise ClusterError(f"{text}: more than {MOST_GPUS:,} GPUs")
        return cls(tuple(models), tuple(numbers))

    def with_configurations(self, numbers: Sequence[int]) -> MigCluster:
        """The same GPUs, cut otherwise."""
        return MigCluster(self.models, tuple(numbers))

    @property
    def text(self) -> str:
        """What `parse` reads."""
        cuts = zip(self.models, self.configurations, strict=True)
        parts = []
        for name, run in groupby(cuts, key=lambda cut: cut[0].name):
            numbers = [str(number) for _, number in run]
            parts.append(f"{len(numbers)}x{name}:{','.join(numbers)}")
        return " + ".join(parts)

    @property
    def slices(self) -> tuple[MigSlice, ...]:
        """All instances, GPU by GPU."""
        return tuple(
            part
            for kind, number in zip(self.models, self.configurations, strict=True)
            for part in kind.configurations[number - 1].slices
        )

    @cached_property
    def kinds(self) -> tuple[GpuModel, ...]:
        """The models that occur, in order of appearance."""
        return tuple(dict.fromkeys(self.models))

    @property
    def compute(self) -> int:
        """Compute slices of all GPUs, whole."""
        return sum(kind.compute_slices for kind in self.models)


MIG_DAY_CLUSTER = MigCluster.parse("8xa100-40-rounded:1,1,2,2,3,3,12,12")
"""The cluster of the published MIG day: 8 GPUs, 20 slices."""
