"""The networks of the agents: a kernel that looks at one job, and a critic of the whole queue."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from dovetail.agents.ppo.ragged import Decisions
from dovetail.agents.rltune.starts import Heuristic
from dovetail.policies.ordering.kernel_network import MIDDLE, NARROW, WIDE
from dovetail.policies.selections import Selection

LAYERS = ("wide", "middle", "narrow", "logit")


class KernelActor(nn.Module):
    """A logit for each job from its features alone, and a learned one for declining.

    The same small network serves every job, so that the order of the rows does not matter. The
    linear skip holds what a heuristic would say; the network corrects it.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.wide = nn.Linear(width, WIDE)
        self.middle = nn.Linear(WIDE, MIDDLE)
        self.narrow = nn.Linear(MIDDLE, NARROW)
        self.logit = nn.Linear(NARROW, 1)
        self.skip = nn.Linear(width, 1, bias=False)
        self.decline = nn.Parameter(torch.zeros(1))
        nn.init.zeros_(self.skip.weight)

    def forward(self, decisions: Decisions) -> torch.Tensor:
        """One logit per valid action."""
        hidden = self.wide(decisions.rows).relu_()
        hidden = self.middle(hidden).relu_()
        hidden = self.narrow(hidden).relu_()
        logits = (self.logit(hidden) + self.skip(decisions.rows)).squeeze(1)
        return torch.where(decisions.rowless, self.decline, logits)

    def follow(self, heuristic: Heuristic) -> None:
        """Begin as a linear rule: the network's own part is 0 until it learns."""
        with torch.no_grad():
            self.logit.weight.zero_()
            self.logit.bias.zero_()
            self.skip.weight.copy_(torch.from_numpy(heuristic.skip)[None])
            self.decline.fill_(heuristic.decline)

    def arrays(self, selection: Selection) -> dict[str, NDArray[Any]]:
        """Weights as policies.ordering.kernel_network takes them; no torch is needed there."""
        found: dict[str, NDArray[Any]] = {"features": np.array(selection.names())}
        for name in LAYERS:
            layer = getattr(self, name)
            found[name] = np.vstack((_numbers(layer.weight).T, _numbers(layer.bias)))
        found["skip"] = np.vstack((_numbers(self.skip.weight).T, np.zeros(1)))
        found["decline"] = _numbers(self.decline)
        return found


class QueueCritic(nn.Module):
    """The value of a decision from all jobs shown, side by side in the base policy's order."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.rows, self.width = rows, width
        self.body = nn.Sequential(
            nn.Linear(rows * width, WIDE), nn.ReLU(),
            nn.Linear(WIDE, MIDDLE), nn.ReLU(),
            nn.Linear(MIDDLE, NARROW), nn.ReLU(),
            nn.Linear(NARROW, 1),
        )  # fmt: skip

    def forward(self, decisions: Decisions) -> torch.Tensor:
        """One value per decision."""
        shown = ~decisions.rowless
        at = (decisions.decision * self.rows + decisions.action)[shown]
        queue = torch.zeros(decisions.decisions * self.rows, self.width)
        queue[at] = decisions.state[shown]
        values: torch.Tensor = self.body(queue.view(decisions.decisions, -1))
        return values.squeeze(1)


def _numbers(weights: torch.Tensor) -> NDArray[np.float64]:
    return weights.detach().numpy().astype(np.float64)
