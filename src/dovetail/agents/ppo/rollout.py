"""Playing: what happened in many environments, and how much better it was than expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from dovetail.agents.ppo.ragged import (
    Decisions,
    Ragged,
    Singles,
    best,
    join,
    log_softmax,
    pack,
    tensors,
)
from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Bools, Floats, Ints

Seen = dict[str, NDArray[Any]]
Environments = VectorEnv[Seen, Any, NDArray[Any]]
"""Any that show `jobs`, `critic` and `mask` (see ragged.pack) and begin anew in the same step."""


class Network(Protocol):
    """An actor gives a logit per valid action, a critic a value per decision."""

    def __call__(self, decisions: Decisions) -> torch.Tensor: ...


@dataclass(frozen=True, slots=True)
class Rollout:
    """Some steps of all environments; decision t · environments + e is step t of environment e."""

    decisions: Ragged
    place: Ints  # [decisions] which of its valid actions was taken
    log_chance: Singles  # [decisions] of that action
    reward: Floats  # [steps, environments]
    done: Bools  # [steps, environments] an episode ended with this step
    after: Ragged  # what the environments show after the last step

    def gap(self) -> float:
        """Mean reward of the episodes that ended."""
        return float(self.reward.sum() / max(1, self.done.sum()))


def play(
    environments: Environments, actor: Network, episodes: int, random: np.random.Generator
) -> Rollout:
    """Sample actions from begin on, until so many episodes have ended."""
    refuse_other_resets(environments)
    found, _ = environments.reset(seed=int(random.integers(1 << 31)))
    seen = pack(found)
    parts, places, chances, rewards, dones = [], [], [], [], []
    ended = 0
    while ended < episodes:
        logits = _logits(actor, seen)
        # The highest of logit + Gumbel noise is a sample of the softmax.
        place = best(logits + random.gumbel(size=len(logits)).astype(np.float32), seen.offset)
        parts.append(seen)
        places.append(place)
        chances.append(logits[seen.offset[:-1] + place])
        found, reward, ends, cuts, _ = environments.step(seen.action[seen.offset[:-1] + place])
        seen, done = pack(found), ends | cuts
        rewards.append(reward)
        dones.append(done)
        ended += int(done.sum())
    return Rollout(
        join(parts), np.concatenate(places), np.concatenate(chances),
        np.array(rewards), np.array(dones), seen,
    )  # fmt: skip


def refuse_other_resets(environments: Environments) -> None:
    """A step that only resets would be learned from as a decision."""
    mode = environments.metadata.get("autoreset_mode")
    if mode is not AutoresetMode.SAME_STEP:
        raise ConfigError(f"autoreset_mode is {mode}, expected AutoresetMode.SAME_STEP")


def advantages(
    reward: Floats, done: Bools, value: Floats, after: Floats, discount: float, decay: float
) -> Floats:
    """Generalised advantage estimates; `value` [steps, environments], `after` of the last step."""
    found, running, following = np.zeros_like(reward), np.zeros_like(after), after
    for t in range(len(reward) - 1, -1, -1):
        alive = discount * ~done[t]
        running = reward[t] + alive * following - value[t] + decay * alive * running
        found[t], following = running, value[t]
    return found


def _logits(actor: Network, shown: Ragged) -> Singles:
    """Logarithms of the chances of all valid actions."""
    with torch.inference_mode():
        given = tensors(shown)
        found: Singles = log_softmax(actor(given), given.decision, given.decisions).numpy()
    return found
