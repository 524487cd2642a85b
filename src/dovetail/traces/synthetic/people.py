"""Who submits: a few busy users, each with a few habits that they repeat."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dovetail.domain.errors import ConfigError
from dovetail.domain.jobs import Floats, Ints
from dovetail.traces.synthetic.streams import Streams, spread

Shares = tuple[tuple[str, float], ...]
"""Names with their shares; the shares need not sum to 1."""


class Batch(NamedTuple):
    """Who submitted each batch."""

    user: Ints  # [batches]
    habit: Ints  # [batches] numbered over all users


@dataclass(frozen=True, slots=True)
class People:
    """Users by Zipf's law, and how alike their jobs are.

    `habit`, `batch` and the rest to 1 are shares of the variance of (ranked, logarithmic) run
    time. Within one user 53-56 % of the variance remain at MIT and KTH; jobs submitted within
    2 s of each other correlate by 0.70-0.74 on Philly, Venus and PAI.
    """

    users: int = 300
    activity: float = 0.8  # exponent: the busiest user of MIT and KTH submits 8-11 % of jobs
    habits: int = 4  # per user, each half as frequent as the one before
    habit: float = 0.6
    batch: float = 0.25

    def __post_init__(self) -> None:
        if self.users < 1 or self.habits < 1 or self.activity < 0:
            raise ConfigError("people: users and habits must be 1 or more, activity 0 or more")
        if self.habit < 0 or self.batch < 0 or self.habit + self.batch > 1:
            raise ConfigError("people: habit and batch are shares; together at most 1")

    def submit(self, batches: int, streams: Streams) -> Batch:
        """Who submits each of so many batches."""
        activity = np.arange(1, self.users + 1, dtype=np.float64) ** -self.activity
        user = choose(activity, spread(streams("user"), batches))
        favour = 0.5 ** np.arange(self.habits, dtype=np.float64)
        own = choose(favour, spread(streams("habit"), batches))
        return Batch(user, np.add(user * self.habits, own))

    def size_latent(self, batch: Batch, streams: Streams) -> Floats:
        """What orders batches by size: mostly the habit, a little the batch."""
        habits = streams("size of habit").standard_normal(self.users * self.habits)
        own = streams("size of batch").standard_normal(len(batch.habit))
        return habits[batch.habit] + 0.3 * own

    def run_latent(self, batch: Batch, batch_of: Ints, streams: Streams) -> Floats:
        """What orders jobs by run time; half of a habit's part is its user's."""
        users = streams("run of user").standard_normal(self.users)
        habits = streams("run of habit").standard_normal(self.users * self.habits)
        typical = (np.repeat(users, self.habits) + habits) / math.sqrt(2)
        batches = streams("run of batch").standard_normal(len(batch.habit))
        jobs = streams("run of job").standard_normal(len(batch_of))
        latent: Floats = (
            math.sqrt(self.habit) * typical[batch.habit][batch_of]
            + math.sqrt(self.batch) * batches[batch_of]
            + math.sqrt(1 - self.habit - self.batch) * jobs
        )
        return latent


def choose(weights: Floats, uniform: Floats) -> Ints:
    """An index per uniform, as often as its weight says."""
    edges = np.cumsum(weights) / np.sum(weights)
    return np.searchsorted(edges[:-1], uniform, side="right")


def choose_name(shares: Shares, uniform: Floats) -> Ints:
    """An index of name per uniform, as often as its share says."""
    return choose(np.array([share for _, share in shares]), uniform)
