"""Networks that may decide: a CNN over the utilisation matrix, one over pairs, one per type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dovetail.domain.registry import Registry
from dovetail.envs.gpu_assignment.config import GpuAssignmentConfig
from dovetail.envs.gpu_assignment.kernel import GPU_FEATURES, JOB_FEATURES
from dovetail.policies.learned.assignment_network import (
    LATER,
    NOTHING,
    PAIR_FEATURES,
    PRIOR_LATER,
    PRIOR_RUN,
    PRIOR_WAIT,
    RUN,
)

HIDDEN = 16
"""With 24 a decision for 256 GPUs takes more than a millisecond."""


def pairs_of(seen: dict[str, Tensor]) -> Tensor:
    """`pair_features` of the exported network, for tensors."""
    gpus, jobs, speeds = seen["gpus"], seen["jobs"], seen["speeds"]
    run = torch.expm1(jobs[..., 0])[..., None] / speeds.clamp(min=1e-3)
    left = (torch.expm1(gpus[..., 1]) * gpus[..., 0])[..., None, :]
    soonest = (left + run).amin(dim=-1, keepdim=True)
    later = torch.log1p(run) - torch.log1p(soonest)
    share = speeds / speeds.amax(dim=-1, keepdim=True).clamp(min=1e-3)
    return torch.stack([speeds, torch.log1p(run), later, share], dim=-1)


def least_loss(later: Tensor, mask: Tensor) -> Tensor:
    """[environments]: of all valid pairs the least by which a job would end later than it could."""
    return later.flatten(1).masked_fill(mask[:, :-1] <= 0, NOTHING).amin(dim=1)


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
        self.value = nn.Linear(context, 1)  # of the situation, whatever is done
        self.wait, self.wait_last = nn.Linear(context + 1, HIDDEN), nn.Linear(HIDDEN, 1)
        for head in (self.last, self.wait_last):  # so that it begins as the prior
            nn.init.zeros_(head.weight)
        nn.init.zeros_(self.wait_last.bias)

    def forward(self, seen: dict[str, Tensor]) -> Tensor:
        context = context_of(seen["gpus"], seen["jobs"], seen["queue"])
        wait = self.value_of_waiting(seen, context)
        near = self.context(context)[:, None].expand(-1, seen["gpus"].shape[1], -1)
        values = self.score(seen, near, wait)
        value = self.value(context)
        return _centred(values, seen["mask"], value) if self.duelling else values + value

    def value_of_waiting(self, seen: dict[str, Tensor], context: Tensor) -> Tensor:
        """It is good where whatever could start now would end much sooner elsewhere."""
        least = least_loss(pairs_of(seen)[..., LATER], seen["mask"])[:, None]
        found: Tensor = self.wait_last(torch.relu(self.wait(torch.cat([context, least], dim=-1))))
        return found - PRIOR_WAIT

    def score(self, seen: dict[str, Tensor], context: Tensor, wait: Tensor) -> Tensor:
        """[environments, actions], from contexts [environments, GPUs, hidden].

        Only valid pairs are scored, a sixteenth of all: most GPUs are busy at most decisions.
        """
        count = seen["gpus"].shape[1]
        e, action = seen["mask"][:, :-1].nonzero(as_tuple=True)
        job, gpu = action // count, action % count
        pairs = pairs_of(seen)[e, job, gpu]
        hidden = self.pair(pairs) + context[e, gpu]
        hidden = hidden + self.job(seen["jobs"])[e, job] + self.gpu(seen["gpus"])[e, gpu]
        found = self.last(torch.relu(self.second(torch.relu(hidden))))[:, 0]
        found = found - PRIOR_LATER * pairs[:, LATER] - PRIOR_RUN * pairs[:, RUN]
        values = torch.zeros_like(seen["mask"][:, :-1]).index_put((e, action), found)
        return torch.cat([values, wait], dim=1)

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
        least = least_loss(pairs_of(seen)[..., LATER], seen["mask"])
        near = torch.cat([seen_by_type, least[:, None, None].expand(-1, kinds.shape[-1], 1)], -1)
        wait = self.wait_last(torch.relu(self.wait(near))).amax(dim=1) - PRIOR_WAIT
        value = self.value(context_of(gpus, jobs, seen["queue"]))
        return self.score(seen, kinds @ context, wait) + value


class ConvolutionNetwork(nn.Module):
    """Convolutions over the utilisation matrix, then two dense layers; for one size of cluster."""

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
