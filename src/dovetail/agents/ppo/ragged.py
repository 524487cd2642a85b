"""Decisions with different numbers of valid actions, without padding: one row per valid action.

decisions = pack(seen)                      # NumPy, as stored
given = tensors(decisions)                  # torch
logits = actor(given)                       # one per valid action
chances = log_softmax(logits, given.decision, given.decisions)    # within each decision
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from dovetail.domain.jobs import Bools, Ints

Singles = NDArray[np.float32]


class Ragged(NamedTuple):
    """Decisions one after another; the valid actions of a decision lie side by side."""

    rows: Singles  # [valid actions, width] what is seen of each; 0 for those without a row
    state: Singles  # [valid actions, critic width] what the critic sees of it
    action: Ints  # [valid actions] its number in the environment
    rowless: Bools  # [valid actions] an action that stands after the rows, such as declining
    offset: Ints  # [decisions + 1]

    def __len__(self) -> int:
        return len(self.offset) - 1

    def take(self, chosen: Ints) -> Ragged:
        """Some of the decisions, in the order given."""
        lengths = np.diff(self.offset)[chosen]
        offset = np.concatenate(([0], np.cumsum(lengths)))
        at = np.arange(offset[-1]) + np.repeat(self.offset[chosen] - offset[:-1], lengths)
        return Ragged(
            self.rows[at], self.state[at], self.action[at], self.rowless[at], offset
        )  # fmt: skip


class Decisions(NamedTuple):
    """The same as tensors, for networks."""

    rows: torch.Tensor
    state: torch.Tensor
    action: torch.Tensor
    rowless: torch.Tensor
    decision: torch.Tensor  # [valid actions] the decision that each belongs to
    decisions: int  # how many


def pack(seen: Mapping[str, NDArray[Any]]) -> Ragged:
    """What a batch environment shows: `jobs` and `critic` [n, rows, width], `mask` [n, actions].

    Action i is described by row i; actions beyond the rows have none.
    """
    mask, jobs, critic = seen["mask"], seen["jobs"], seen["critic"]
    rows = jobs.shape[1]
    decision, action = np.divmod(np.flatnonzero(mask), mask.shape[1])
    rowless = action >= rows
    at = decision * rows + np.minimum(action, rows - 1)
    found = jobs.reshape(-1, jobs.shape[2])[at]
    state = critic.reshape(-1, critic.shape[2])[at]
    found[rowless], state[rowless] = 0.0, 0.0
    offset = np.concatenate(([0], np.cumsum(np.count_nonzero(mask, axis=1))))
    return Ragged(found, state, action, rowless, offset)


def join(parts: Sequence[Ragged]) -> Ragged:
    """The decisions of all parts, in order."""
    lengths = np.concatenate([np.diff(part.offset) for part in parts])
    return Ragged(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.state for part in parts]),
        np.concatenate([part.action for part in parts]),
        np.concatenate([part.rowless for part in parts]),
        np.concatenate(([0], np.cumsum(lengths))),
    )


def tensors(ragged: Ragged) -> Decisions:
    count = len(ragged)
    return Decisions(
        torch.from_numpy(ragged.rows),
        torch.from_numpy(ragged.state),
        torch.from_numpy(ragged.action),
        torch.from_numpy(ragged.rowless),
        torch.from_numpy(np.repeat(np.arange(count), np.diff(ragged.offset))),
        count,
    )


def log_softmax(logits: torch.Tensor, decision: torch.Tensor, count: int) -> torch.Tensor:
    """Logarithms of probabilities within each decision."""
    lowest = torch.full((count,), -torch.inf)
    top = lowest.scatter_reduce(0, decision, logits.detach(), "amax")
    shifted = logits - top.index_select(0, decision)
    total = torch.zeros(count).index_add(0, decision, shifted.exp())
    return shifted - total.log().index_select(0, decision)


def best(values: Singles, offset: Ints) -> Ints:
    """The place of the highest value within each decision; ties to the first."""
    decision = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    hits = np.flatnonzero(values == np.maximum.reduceat(values, offset[:-1])[decision])
    _, first = np.unique(decision[hits], return_index=True)
    places: Ints = hits[first] - offset[:-1]
    return places
