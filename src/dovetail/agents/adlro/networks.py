"""The networks that may decide: a CNN over the utilisation matrix, one over pairs, one per GPU type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dovetail.domain.registry import Registry
from dovetail.envs.gpu_assignment.config import GpuAssignmentConfig
from dovetail.envs.gpu_assignment.kernel import GPU_FEATURES, JOB_FEATURES
from dovetail.policies.learned.assignment_network import PAIR_FEATURES

HIDDEN = 24


def pairs_of(seen: dict[str, Tensor]) -> Tensor:
    """`pair_features` of the exported network, for tensors."""
    gpus, jobs, speeds = seen["gpus"], seen["jobs"], seen["speeds"]
    run = torch.expm1(jobs[..., 0])[..., None] / speeds.clamp(min=1e-3)
    left = (torch.expm1(gpus[..., 1]) * gpus[..., 0])[..., None, :]
    soonest = (left + run).amin(dim=-1, keepdim=True)
    later = torch.log1p(run) - torch.log1p(soonest)
    share = speeds / speeds.amax(dim=-1, keepdim=True).clamp(min=1e-3)
    return torch.stack([speeds, torch.log1p(run), later, share], dim=-1)


def context_of(gpus: Tensor, jobs: Tensor, queue: Tensor) -> Tensor:
    """`summarise` of the exported network, for tensors."""
    shown = (jobs[..., JOB_FEATURES:].sum(dim=-1, keepdim=True) > 0).float()
    count = shown.sum(dim=-2).clamp(min=1.0)
    return torch.cat([gpus.mean(dim=-2), (jobs * shown).sum(dim=-2) / count, queue], dim=-1)


class PairNetwork(nn.Module):
    """Scores every (job, GPU) pair alike: other numbers of jobs and GPUs need no other weights."""

    def __init__(self, config: GpuAssignmentConfig, duelling: bool = False) -> None:
        super().__init__()
        self.duelling = duelling
        jobs, gpus = JOB_FEATURES + len(config.kinds), GPU_FEATURES + len(config.gpus)
        context = jobs + gpus + 1
        self.job, self.gpu = nn.Linear(jobs, HIDDEN, False), nn.Linear(gpus, HIDDEN, False)
        self.pair = nn.Linear(PAIR_FEATURES, HIDDEN, False)
        self.context = nn.Linear(context, HIDDEN)
        self.second, self.last = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 1, False)
        self.wait, self.wait_last = nn.Linear(context, HIDDEN), nn.Linear(HIDDEN, 1)

    def forward(self, seen: dict[str, Tensor]) -> Tensor:
        context = context_of(seen["gpus"], seen["jobs"], seen["queue"])
        scores = self.score(seen, self.context(context)[:, None, None])
        wait = self.wait_last(torch.relu(self.wait(context)))
        values = torch.cat([scores.flatten(1), wait], dim=1)
        return _centred(values, seen["mask"], wait) if self.duelling else values

    def score(self, seen: dict[str, Tensor], context: Tensor) -> Tensor:
        """[environments, jobs, GPUs]."""
        hidden = self.pair(pairs_of(seen)) + context
        hidden = hidden + self.job(seen["jobs"])[:, :, None] + self.gpu(seen["gpus"])[:, None]
        found: Tensor = self.last(torch.relu(self.second(torch.relu(hidden))))
        return found[..., 0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """For AssignmentNetwork."""
        parts = {
            "job": self.job.weight.T, "gpu": self.gpu.weight.T, "pair": self.pair.weight.T,
            "context": self.context.weight.T, "first_bias": self.context.bias,
            "second": self.second.weight.T, "second_bias": self.second.bias,
            "last": self.last.weight.T, "wait": self.wait.weight.T, "wait_bias": self.wait.bias,
            "wait_last": self.wait_last.weight.T, "wait_last_bias": self.wait_last.bias,
        }  # fmt: skip
        return {name: part.detach().numpy().copy() for name, part in parts.items()}


class TypeNetwork(PairNetwork):
    """One small agent per GPU type, all with the same weights: each sees its own GPUs alone."""

    def forward(self, seen: dict[str, Tensor]) -> Tensor:
        gpus, jobs = seen["gpus"], seen["jobs"]
        kinds = gpus[..., GPU_FEATURES:]  # [environments, GPUs, types]
        own = kinds / kinds.sum(dim=1, keepdim=True).clamp(min=1.0)
        means = own.transpose(1, 2) @ gpus  # [environments, types, features]
        seen_by_type = torch.stack(
            [context_of(means[:, None, t], jobs, seen["queue"]) for t in range(kinds.shape[-1])], 1
        )
        context = self.context(seen_by_type)
        scores = self.score(seen, (kinds @ context)[:, None])
        wait = self.wait_last(torch.relu(self.wait(seen_by_type)))[..., 0].amax(dim=1)
        return torch.cat([scores.flatten(1), wait[:, None]], dim=1)


class ConvolutionNetwork(nn.Module):
    """The seed's: convolutions over the utilisation matrix, then two dense layers; of fixed size."""

    def __init__(self, config: GpuAssignmentConfig, duelling: bool = False) -> None:
        super().__init__()
        self.duelling = duelling
        jobs, gpus = JOB_FEATURES + len(config.kinds), GPU_FEATURES + len(config.gpus)
        self.matrix = nn.Sequential(
            nn.Conv1d(gpus, 16, 3, padding=1), nn.ReLU(),
            nn.Conv1d(16, 16, 3, padding=1), nn.ReLU(), nn.Flatten(),
        )  # fmt: skip
        width = 16 * config.count + jobs * config.shown + 1
        self.dense = nn.Sequential(
            nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, config.shown * config.count + 1)
        )
        self.value = nn.Linear(width, 1)

    def forward(self, seen: dict[str, Tensor]) -> Tensor:
        matrix = self.matrix(seen["gpus"].transpose(1, 2))
        flat = torch.cat([matrix, seen["jobs"].flatten(1), seen["queue"]], dim=1)
        values: Tensor = self.dense(flat)
        return _centred(values, seen["mask"], self.value(flat)) if self.duelling else values


def _centred(values: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """Advantages around their mean over valid actions, plus the value of the state."""
    mean = (values * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1.0)
    return value + values - mean


NETWORKS: Registry[Callable[..., nn.Module]] = Registry(
    "network",
    {"pairs": PairNetwork, "types": TypeNetwork, "cnn": ConvolutionNetwork},
)
