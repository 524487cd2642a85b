"""Where two agents begin: at what the base pair does, which is always the first action."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from dovetail.agents.ppo.ragged import Ragged, best, join, log_softmax, pack, tensors
from dovetail.agents.ppo.rollout import Environments

RATE = 3e-3
MINIBATCH = 512


def imitate(
    actor: nn.Module,
    environments: Environments,
    episodes: int,
    passes: int,
    random: np.random.Generator,
) -> float:
    """Let the actor learn the base pair's choices; the share of them that it makes in the end.

    Parameters that need no gradient stay as they are.
    """
    decisions = _watch(environments, episodes, random)
    learning = [part for part in actor.parameters() if part.requires_grad]
    optimiser = torch.optim.Adam(learning, lr=RATE)
    for _ in range(passes):
        order = random.permutation(len(decisions))
        for begin in range(0, len(order), MINIBATCH):
            chosen = decisions.take(order[begin : begin + MINIBATCH])
            given = tensors(chosen)
            chances = log_softmax(actor(given), given.decision, given.decisions)
            loss: Any = -chances[torch.from_numpy(chosen.offset[:-1])].mean()
            if not loss.requires_grad:
                continue  # decisions of the other agent alone
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    with torch.inference_mode():
        logits = actor(tensors(decisions)).numpy()
    return float((best(logits, decisions.offset) == 0).mean())


def _watch(environments: Environments, episodes: int, random: np.random.Generator) -> Ragged:
    """Decisions of so many episodes of the base pair."""
    seen, _ = environments.reset(seed=int(random.integers(1 << 31)))
    parts, ended = [], 0
    first = np.zeros(environments.num_envs, np.int64)
    while ended < episodes:
        parts.append(pack(seen))
        seen, _, ends, _, _ = environments.step(first)
        ended += int(ends.sum())
    return join(parts)
