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
from dovetail.policies.learned.assignment_facts import (
    LATER,
    OF_OTHERS,
    PAIR_FEATURES,
    RUN,
    SHARE,
    WAIT_FEATURES,
)
from dovetail.policies.learned.assignment_network import (
    HIDDEN,
    PRIOR_LATER,
    PRIOR_RUN,
    PRIOR_WAIT,
)

Parts = dict[str, Tensor]

GAIN = 0.06
"""Of the index in units of values, at first: a job that ends later by a third of its time costs
some twenty seconds, which is 0.03 there and 0.6 in the index."""


def scattered(mask: Tensor, found: Tensor, wait: Tensor) -> Tensor:
    """[environments, choices] from values of valid pairs only: most pairs are not valid."""
    e, choice = mask[:, :-1].nonzero(as_tuple=True)
    values = torch.zeros_like(mask[:, :-1]).index_put((e, choice), found)
    return torch.cat([values, wait], dim=1)


def centred(values: Tensor, mask: Tensor) -> Tensor:
    """Advantages around their mean over valid choices."""
    return values - (values * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1.0)


class PairNetwork(nn.Module):
    """Values every pair of job and type alike: any number of both needs no other weights."""

    inputs = ("pairs", "wait", "mask")

    def __init__(self, config: GpuAssignmentConfig, duelling: bool = True) -> None:
        super().__init__()
        self.duelling = duelling
        self.first, self.second = nn.Linear(PAIR_FEATURES, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.last = nn.Linear(HIDDEN, 1)
        self.wait, self.wait_last = nn.Linear(WAIT_FEATURES, HIDDEN), nn.Linear(HIDDEN, 1)
        self.value = nn.Sequential(
            nn.Linear(WAIT_FEATURES, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)
        )  # of the situation, whatever is done: it ranks nothing and is not exported
        self.gain = nn.Parameter(torch.tensor(GAIN))
        for head in (self.last, self.wait_last):  # so that it begins as the prior
            nn.init.zeros_(head.weight)
            nn.init.zeros_(head.bias)

    def forward(self, seen: Parts) -> Tensor:
        values = self.advantages(seen)
        values = centred(values, seen["mask"]) if self.duelling else values
        return values + self.value(seen["wait"])

    def advantages(self, seen: Parts) -> Tensor:
        e, choice = seen["mask"][:, :-1].nonzero(as_tuple=True)
        pairs = seen["pairs"].flatten(1, 2)[e, choice]
        hidden = torch.relu(self.second(torch.relu(self.first(pairs))))
        found = self.last(hidden)[:, 0]
        prior = -PRIOR_LATER * pairs[:, LATER] - PRIOR_RUN * pairs[:, RUN]
        found = found + self.gain * prior
        wait = self.wait_last(torch.relu(self.wait(seen["wait"]))) - self.gain * PRIOR_WAIT
        return scattered(seen["mask"], found, wait)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """For AssignmentNetwork."""
        layers = {
            "first": self.first, "second": self.second, "last": self.last,
            "wait": self.wait, "wait_last": self.wait_last,
        }  # fmt: skip
        found = {
            name: torch.cat([layer.weight.T, layer.bias[None]]).detach().numpy().copy()
            for name, layer in layers.items()
        }
        for name in ("last", "wait_last"):  # there the index counts as it is
            found[name] /= float(self.gain.detach())
        return found


class ConvolutionNetwork(nn.Module):
    """The paper's: convolutions over the utilisation matrix, two dense layers that see a job and
    give a value for each type of GPU; for one size of cluster."""

    inputs = ("gpus", "jobs", "queue", "mask")

    def __init__(self, config: GpuAssignmentConfig, duelling: bool = True) -> None:
        super().__init__()
        self.duelling = duelling
        jobs, gpus = JOB_FEATURES + len(config.kinds), GPU_FEATURES + len(config.gpus)
        self.matrix = nn.Sequential(
            nn.Conv1d(gpus, 16, 3, padding=1), nn.ReLU(),
            nn.Conv1d(16, 16, 3, padding=1), nn.ReLU(), nn.Flatten(),
        )  # fmt: skip
        width = 16 * config.count + jobs + 1  # the mean of all jobs goes with the matrix
        self.shared, self.job = nn.Linear(width, 128), nn.Linear(jobs, 128, bias=False)
        self.last = nn.Linear(128, len(config.gpus))
        self.wait = nn.Linear(128, 1)
        self.value = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, seen: Parts) -> Tensor:
        jobs, mask = seen["jobs"], seen["mask"]
        types = self.last.out_features
        shown = (jobs[..., JOB_FEATURES:].sum(dim=-1, keepdim=True) > 0).float()
        mean = (jobs * shown).sum(dim=1) / shown.sum(dim=1).clamp(min=1.0)
        matrix = self.matrix(seen["gpus"].transpose(1, 2))
        flat = torch.cat([matrix, mean, seen["queue"]], dim=1)
        shared = self.shared(flat)
        e, job = mask[:, :-1].reshape(len(mask), -1, types).amax(dim=2).nonzero(as_tuple=True)
        by_job = self.last(torch.relu(shared[e] + self.job(jobs[e, job])))
        values = torch.zeros(*jobs.shape[:2], types).index_put((e, job), by_job).flatten(1)
        wait = self.wait(torch.relu(shared))
        values = torch.cat([values, wait], dim=1)
        values = centred(values, mask) if self.duelling else values
        return values + self.value(flat)


class TypeNetwork(nn.Module):
    """One small agent per GPU type, all with the same weights: each sees the queue and its own GPUs
    alone, and says by how much its best job is better than to wait."""

    inputs = ("pairs", "wait", "mask")

    def __init__(self, config: GpuAssignmentConfig, duelling: bool = True) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(PAIR_FEATURES, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.last = nn.Linear(HIDDEN, 1)
        self.value = nn.Sequential(nn.Linear(WAIT_FEATURES, 64), nn.ReLU(), nn.Linear(64, 1))
        self.gain = nn.Parameter(torch.tensor(GAIN))
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, seen: Parts) -> Tensor:
        e, choice = seen["mask"][:, :-1].nonzero(as_tuple=True)
        pairs = seen["pairs"].flatten(1, 2)[e, choice]
        pairs = pairs.index_fill(1, torch.tensor(OF_OTHERS), 0.0)
        hidden = torch.relu(self.second(torch.relu(self.first(pairs))))
        # It begins as a rule of its own: not on a GPU that is a third slower than the best.
        start = PRIOR_LATER * torch.log(pairs[:, SHARE].clamp(min=1e-2)) - PRIOR_RUN * pairs[:, RUN]
        found = self.last(hidden)[:, 0] + self.gain * (start + PRIOR_WAIT)
        wait = torch.zeros(len(seen["mask"]), 1)
        return scattered(seen["mask"], found, wait) + self.value(seen["wait"])


NETWORKS: Registry[Callable[..., nn.Module]] = Registry(
    "network",
    {"pairs": PairNetwork, "types": TypeNetwork, "cnn": ConvolutionNetwork},
)
