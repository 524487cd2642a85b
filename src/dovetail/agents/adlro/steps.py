"""Assignment environments as the learner steps them: alike GPUs are one choice."""

from __future__ import annotations

import numpy as np

from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.envs.batch import Seen
from dovetail.envs.gpu_assignment.batch import GpuAssignmentBatch
from dovetail.envs.gpu_assignment.by_type import choice_mask, facts_of, gpu_actions
from dovetail.policies.learned.assignment_facts import describe_assignment


def encode(seen: Seen) -> Seen:
    """What networks get: the matrix and the queue as shown, features of pairs, the mask."""
    features = describe_assignment(facts_of(seen))
    return {
        "gpus": seen["gpus"],
        "jobs": seen["jobs"],
        "queue": seen["queue"],
        "pairs": features.pairs,
        "wait": features.wait,
        "mask": choice_mask(features, seen).astype(np.int8),
    }


class TypedSteps:
    """A batch of environments; a choice is `job * types + type`, or the last one: wait."""

    def __init__(self, batch: GpuAssignmentBatch, horizon: float) -> None:
        self.batch, self.count, self.horizon = batch, batch.count, horizon
        self.dones: Bools = batch.dones
        self.elapsed: Floats = batch.elapsed
        self.rewards: Floats = np.zeros(batch.count)
        self.seen: Seen = {}

    def follow(self, environment: int, random: np.random.Generator) -> None:
        self.batch.follow(environment, random)

    def begin(self) -> None:
        self.batch.begin()
        self.seen = encode(self.batch.seen)

    def step(self, choices: Ints) -> None:
        self.batch.step(gpu_actions(self.batch.seen, choices))
        self.rewards = self.batch.charged(self.horizon)
        self.seen = encode(self.batch.seen)
