"""Evolution strategies: sample networks around the current one, move towards the better half.

A separable CMA-ES: a mean and a spread per weight, both learned. It needs no gradient, so that
the thing optimised is the measure itself, over whole windows, gate included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dovetail.domain.jobs import Floats


@dataclass
class Evolution:
    """Ask for a population, tell how it did.

    search = Evolution(start, spread=0.1, population=24, seed=0)
    candidates = search.ask()
    search.tell(candidates, [loss(c) for c in candidates])
    """

    mean: Floats
    spread: float
    population: int
    seed: int

    def __post_init__(self) -> None:
        count, half = len(self.mean), self.population // 2
        self.random = np.random.default_rng(self.seed)
        weights = math.log(half + 0.5) - np.log(np.arange(1, half + 1))
        self.weights = weights / weights.sum()
        self.effective = 1.0 / float(np.sum(self.weights**2))
        self.variance, self.path, self.scale_path = np.ones(count), np.zeros(count), np.zeros(count)
        # Usual settings of CMA-ES; the rates of the diagonal are raised as for separable use.
        self.c_scale = (self.effective + 2) / (count + self.effective + 5)
        self.damping = (
            1 + self.c_scale + 2 * max(0.0, math.sqrt((self.effective - 1) / (count + 1)) - 1)
        )
        self.c_path = 4 / (count + 4)
        faster = (count + 2) / 3
        self.c_one = min(0.3, faster * 2 / ((count + 1.3) ** 2 + self.effective))
        self.c_many = min(
            0.5,
            faster
            * 2
            * (self.effective - 2 + 1 / self.effective)
            / ((count + 2) ** 2 + self.effective),
        )
        self.expected = math.sqrt(count) * (1 - 1 / (4 * count) + 1 / (21 * count**2))

    def ask(self) -> Floats:
        """A population, one candidate a row; mirrored pairs halve the noise of the mean."""
        half = self.random.standard_normal(((self.population + 1) // 2, len(self.mean)))
        noise = np.concatenate((half, -half))[: self.population]
        candidates: Floats = self.mean + self.spread * np.sqrt(self.variance) * noise
        return candidates

    def tell(self, candidates: Floats, losses: Floats) -> None:
        """Move mean and spread towards the better half."""
        order = np.argsort(losses, kind="stable")[: len(self.weights)]
        steps = (candidates[order] - self.mean) / self.spread
        step = self.weights @ steps
        self.mean = self.mean + self.spread * step
        whitened = step / np.sqrt(self.variance)
        self.scale_path = (1 - self.c_scale) * self.scale_path + math.sqrt(
            self.c_scale * (2 - self.c_scale) * self.effective
        ) * whitened
        self.path = (1 - self.c_path) * self.path + math.sqrt(
            self.c_path * (2 - self.c_path) * self.effective
        ) * step
        self.variance = (
            (1 - self.c_one - self.c_many) * self.variance
            + self.c_one * self.path**2
            + self.c_many * (self.weights @ steps**2)
        )
        length = float(np.linalg.norm(self.scale_path)) / self.expected
        self.spread *= math.exp(min(1.0, self.c_scale / self.damping * (length - 1)))
