"""What a policy does on the part of a history that it was not trained on.

Every policy replays the whole trace, so that each finds the cluster as it left it itself; only
jobs of the last part are measured. Neighbouring jobs share their fate, so intervals come from
a bootstrap over blocks of consecutive jobs, the same blocks for all policies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dovetail.agents.engines import Engine
from dovetail.agents.history import UNSEEN
from dovetail.agents.outcomes import part_summary
from dovetail.agents.players import LocalPlayers, Playable, Task
from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.domain.group_waits import GroupWaits, group_waits
from dovetail.domain.jobs import Floats
from dovetail.domain.trace import Trace
from dovetail.evaluation.bounds.bound import lower_bounds
from dovetail.evaluation.run import Run
from dovetail.evaluation.standing import Unseen, measure, standings
from dovetail.policies.policy import Policy
from dovetail.prediction.knowledge import Knowledge

SLURM = Policy("slurm-multifactor")
BLOCKS = 40
"""Blocks of consecutive jobs that the bootstrap draws from."""


class Draws:
    """Estimates of one kind, as each policy goes by them, with several draws of their noise.

    One draw of noisy:1 moves the mean wait on the last tenth of a trace by up to 15 %. Where there
    is no noise there is one draw.
    """

    def __init__(
        self, trace: Trace, spec: str, seed: int, count: int, knowledge: Knowledge | None = None
    ) -> None:
        """`knowledge` of the same trace can be shared by several kinds of estimates."""
        if count < 1:
            raise ConfigError(f"seeds is {count}, expected 1 or more")
        self.spec, self._seed = spec, seed
        self._count = count if spec.startswith("noisy") else 1
        self.knowledge = knowledge or Knowledge(trace)
        self._made: dict[str, tuple[Estimates, ...]] = {}

    def __len__(self) -> int:
        return self._count

    def of(self, policy: Policy) -> tuple[Estimates, ...]:
        """What this policy is told."""
        spec = policy.told(self.spec)
        if spec not in self._made:
            seeds = range(self._seed, self._seed + self._count)
            self._made[spec] = tuple(self.knowledge.estimates(spec, seed) for seed in seeds)
        return self._made[spec]

    def of_all(self, policies: Sequence[Policy]) -> ToldPolicies:
        """All estimates that they are told, each once, and who is told which."""
        numbers: dict[int, int] = {}  # of estimates by identity: `of` makes each once
        estimates: list[Estimates] = []
        tasks = []
        for policy in policies:
            away = policy.carried()
            for told in self.of(policy):
                if id(told) not in numbers:
                    numbers[id(told)] = len(estimates)
                    estimates.append(told)
                tasks.append((numbers[id(told)], away))
        return ToldPolicies(estimates, tasks)


class ToldPolicies(NamedTuple):
    """Estimates, and for each policy and draw which of them it is told."""

    estimates: list[Estimates]
    tasks: list[tuple[int, Policy]]


@dataclass(frozen=True, slots=True)
class WholeReplay:
    """A trace with estimates, replayed as a whole; jobs from row `first` on are measured."""

    trace: Trace
    cluster: Cluster
    estimates: Estimates
    first: int

    def play(self, policy: Policy) -> Floats:
        """Wait, completion time and bounded slowdown [metrics, jobs that ran]."""
        schedule = Run(self.trace, self.cluster, policy, self.estimates).replay()
        unseen = np.arange(len(self.trace)) >= self.first
        return measure(schedule, np.flatnonzero(schedule.ran & unseen))


def play_all(
    playables: Sequence[Playable],
    tasks: Sequence[Task],
    workers: int,
    engine: Engine,
    progress: Callable[[float], None],
) -> list[Any]:
    """The result of each task, in their order, wherever it is played."""
    found: dict[int, Any] = {}
    with engine(playables, workers) as players:
        for at, result in players.play_each(tasks):
            found[at] = result
            progress(len(found) / len(tasks))
    return [found[at] for at in range(len(tasks))]


def kinds_known(trace: Trace) -> list[str]:
    """What clusters really know: predictions, and limits where every job has one."""
    return ["predicted"] + ([] if np.isnan(trace.jobs.limit).any() else ["limit"])


GROUPED = ("size", "run_time", "qos", "account", "user")


class AgainstSlurm(NamedTuple):
    """The last part under Slurm's own order and under a policy."""

    groups: tuple[GroupWaits, ...]  # waits by every known group
    before: dict[str, float]  # what an objective weighs, under the names of `summary`
    after: dict[str, float]

    @property
    def used(self) -> tuple[float, float]:
        """Utilisation under both."""
        return self.before["gpu_utilization"], self.after["gpu_utilization"]


def against_slurm(
    trace: Trace,
    cluster: Cluster,
    policy: Policy,
    draws: Draws,
    share: float = UNSEEN,
    baseline: Policy = SLURM,
) -> AgainstSlurm:
    """Replay the whole trace under both and look at the last part."""
    before, after = (
        Run(trace, cluster, one, draws.of(one)[0]).replay() for one in (baseline, policy)
    )
    first = first_unseen(trace, share)
    unseen = np.arange(len(trace)) >= first
    groups = group_waits(trace.jobs, before.wait, after.wait, GROUPED, unseen)
    return AgainstSlurm(groups, part_summary(before, first), part_summary(after, first))


def who_pays(
    trace: Trace,
    cluster: Cluster,
    policy: Policy,
    draws: Draws,
    share: float = UNSEEN,
    baseline: Policy = SLURM,
) -> tuple[GroupWaits, ...]:
    """Waits of the last part by every known group, under Slurm's own order and a policy."""
    return against_slurm(trace, cluster, policy, draws, share, baseline).groups


def first_unseen(trace: Trace, share: float = UNSEEN) -> int:
    """The row from which on results count."""
    return len(trace) - max(1, round(share * len(trace)))


def evaluate_unseen(
    trace: Trace,
    cluster: Cluster,
    policies: Sequence[Policy],
    draws: Draws,
    share: float = UNSEEN,
    progress: Callable[[float], None] = lambda fraction: None,
    workers: int = 1,
    engine: Engine = LocalPlayers,
) -> Unseen:
    """Measure policies on the last `share` of the trace, the first against the others."""
    first = first_unseen(trace, share)
    told = draws.of_all(policies)
    replays = [WholeReplay(trace, cluster, estimates, first) for estimates in told.estimates]
    found = play_all(replays, told.tasks, workers, engine, progress)
    count = len(draws)
    measured = [np.mean(found[at : at + count], axis=0) for at in range(0, len(found), count)]
    if measured[0].shape[1] == 0:
        raise ConfigError(f"{trace.name} on {cluster.name}: none of the unseen jobs can run there")
    bound = lower_bounds(trace.slice(first, len(trace)), cluster)
    groups = [_blocks(values) for values in measured]
    labels = [policy.label(placement="best-fit") for policy in policies]
    return Unseen(
        jobs=measured[0].shape[1],
        groups=groups[0].shape[1],
        draws=len(draws),
        bound=bound,
        rows=standings(labels, [values.mean(axis=1) for values in measured], groups, bound),
    )


def _blocks(values: Floats) -> Floats:
    """Means of consecutive blocks of equal size; a rest that fills none is left out."""
    metrics, jobs = values.shape
    size = max(1, jobs // BLOCKS)
    count = jobs // size
    means: Floats = values[:, : count * size].reshape(metrics, count, size).mean(axis=2)
    return means
