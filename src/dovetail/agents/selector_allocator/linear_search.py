"""Where PPO begins: the best linear rules of both agents that a search over replays finds.

Both networks hold a linear part beside their hidden layers, and begin as nothing else. Its
weights are few, and a replay says what they are worth with no critic between, so that evolution
moves them further in a minute than PPO does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from dovetail.agents.evolution.search import Evolution
from dovetail.agents.evolution.search_file import load_search, refuse_damage, save_search
from dovetail.agents.learner_replays import Arrays, LearnerReplays
from dovetail.agents.selector_allocator.config import SelectorAllocatorSettings
from dovetail.domain.jobs import Floats

SPREAD = 0.5
"""First spread of the search, in units of the scales."""


class LinearParts:
    """The linear parts of some halves of an actor, as one vector of like scale."""

    def __init__(self, halves: Sequence[tuple[nn.Linear, float]]) -> None:
        """halves: a linear part, and what a number of 1 in the vector is there."""
        self.halves = halves

    def read(self) -> Floats:
        parts = [
            part.weight.detach().numpy().astype(np.float64).ravel() / scale
            for part, scale in self.halves
        ]
        return np.concatenate(parts)

    def write(self, vector: Floats) -> None:
        at = 0
        with torch.no_grad():
            for part, scale in self.halves:
                count = part.weight.numel()
                numbers = torch.from_numpy(vector[at : at + count] * scale)
                part.weight.copy_(numbers.reshape(part.weight.shape))
                at += count


class LinearSearch:
    """Evolution of the linear parts; every epoch is saved, and an earlier search goes on."""

    def __init__(
        self,
        folder: Path,
        facts: dict[str, Any],
        parts: LinearParts,
        export: Callable[[], Arrays],
        replays: LearnerReplays,
        config: SelectorAllocatorSettings,
    ) -> None:
        self.folder, self.facts, self.parts, self.export = folder, facts, parts, export
        self.replays, self.config = replays, config
        self.start = parts.read()
        self.search = Evolution(self.start, SPREAD, config.population, config.seed)
        self.epoch = 0
        saved = load_search(folder, facts)
        if saved is not None:
            saved.into(self.search)
            with refuse_damage(saved.path):
                self.epoch = int(saved.about["epoch"])

    def run(self) -> None:
        """Leave the actor with what was found, or as it was where that is better on validation."""
        self.folder.mkdir(parents=True, exist_ok=True)
        while self.epoch < self.config.search_epochs:
            self._learn()
            self.epoch += 1
            save_search(self.folder, self.search, {"facts": self.facts, "epoch": self.epoch})
        found = [self._arrays(vector) for vector in (self.start, self.search.mean)]
        before, after = self.replays.play(found, self.replays.validation)
        self.parts.write(self.search.mean if after.loss < before.loss else self.start)

    def _learn(self) -> None:
        random = np.random.default_rng((self.config.seed, 1 << 22, self.epoch))
        numbers = random.permutation(self.replays.learning)[: self.config.batch].tolist()
        candidates = self.search.ask()
        pairs = [self._arrays(vector) for vector in candidates]
        losses = [score.loss for score in self.replays.play(pairs, numbers)]
        self.search.tell(candidates, np.nan_to_num(losses))

    def _arrays(self, vector: Floats) -> Arrays:
        self.parts.write(vector)
        return self.export()
