"""The networks of two agents behind one actor, and one critic of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from dovetail.agents.ppo.networks import KernelActor
from dovetail.agents.ppo.ragged import Decisions
from dovetail.envs.selector_allocator.kernel import SUMMARY, WIDTH
from dovetail.policies.features import FEATURES
from dovetail.policies.node_features import NODE_FEATURES
from dovetail.policies.placement.allocator import NARROW, WIDE
from dovetail.policies.selections import ALL

FIRST_WAY = 20.0
"""What it counts that a gang runs in the first way that has room, as with every preference: more
than free GPUs can, and no more than learning can overcome. Other ways may be better ones."""

POOLED = 32
"""Units in which the rows of a decision are summed up for the critic."""


class NodeActor(nn.Module):
    """A logit for each class of equal nodes from its features alone."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Linear(len(NODE_FEATURES), WIDE)
        self.narrow = nn.Linear(WIDE, NARROW)
        self.logit = nn.Linear(NARROW, 1)
        self.skip = nn.Linear(len(NODE_FEATURES), 1, bias=False)
        nn.init.zeros_(self.logit.weight)
        nn.init.zeros_(self.logit.bias)
        nn.init.zeros_(self.skip.weight)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        hidden = self.narrow(self.wide(rows).relu_()).relu_()
        logits: torch.Tensor = self.logit(hidden) + self.skip(rows)
        return logits.squeeze(1)

    def follow(self, free: float, later: float) -> None:
        """Begin as a linear rule: few free GPUs are good, and that the node is idle no later."""
        with torch.no_grad():
            self.skip.weight[0, NODE_FEATURES.index("free_count")] = -free
            self.skip.weight[0, NODE_FEATURES.index("later")] = -later
            self.skip.weight[0, NODE_FEATURES.index("other_way")] = -FIRST_WAY

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights as policies.placement.allocator takes them; no torch is needed there."""
        found: dict[str, NDArray[Any]] = {"node_features": np.array(NODE_FEATURES)}
        for name in ("wide", "narrow", "logit"):
            layer = getattr(self, name)
            found[name] = np.vstack((_numbers(layer.weight).T, _numbers(layer.bias)))
        found["skip"] = np.vstack((_numbers(self.skip.weight).T, np.zeros(1)))
        return found


class PairActor(nn.Module):
    """Two heads: jobs go to the selector's network, classes of nodes to the allocator's."""

    def __init__(self) -> None:
        super().__init__()
        self.selector, self.allocator = KernelActor(len(FEATURES)), NodeActor()

    def forward(self, decisions: Decisions) -> torch.Tensor:
        """One logit per valid action, whoever has the turn."""
        classes = decisions.rows[:, WIDTH - 1] > 0.5
        of_jobs, of_nodes = (~classes).nonzero().squeeze(1), classes.nonzero().squeeze(1)
        logits = torch.zeros(len(decisions.rows))
        if len(of_jobs):
            shown = decisions._replace(
                rows=decisions.rows[of_jobs, : len(FEATURES)], rowless=decisions.rowless[of_jobs]
            )
            logits = logits.index_put((of_jobs,), self.selector(shown))
        if len(of_nodes):
            rows = decisions.rows[of_nodes, : len(NODE_FEATURES)]
            logits = logits.index_put((of_nodes,), self.allocator(rows))
        return logits

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Both halves, as policies.learned.pair takes them."""
        halves = (("selector", self.selector.arrays(ALL)), ("allocator", self.allocator.arrays()))
        return {f"{half}_{name}": part for half, parts in halves for name, part in parts.items()}


class PairCritic(nn.Module):
    """The value of a decision of either agent: the whole state, and the rows summed up."""

    def __init__(self) -> None:
        super().__init__()
        self.row = nn.Linear(WIDTH, POOLED)
        self.body = nn.Sequential(
            nn.Linear(2 * POOLED + SUMMARY, 64), nn.ReLU(),
            nn.Linear(64, 32), nn.ReLU(),
            nn.Linear(32, 1),
        )  # fmt: skip

    def forward(self, decisions: Decisions) -> torch.Tensor:
        """One value per decision; the order of the rows does not matter."""
        hidden = self.row(decisions.rows).relu()
        empty = torch.zeros(decisions.decisions, POOLED)
        total = empty.index_add(0, decisions.decision, hidden)
        count = torch.bincount(decisions.decision, minlength=decisions.decisions)[:, None]
        state = decisions.state[decisions.action == 0]  # every decision has this action
        seen = torch.cat((total / count, (1.0 + total).log(), state), dim=1)
        values: torch.Tensor = self.body(seen)
        return values.squeeze(1)


def _numbers(weights: torch.Tensor) -> NDArray[np.float64]:
    return weights.detach().numpy().astype(np.float64)
