"""What a policy does on the part of a history that it was not trained on.

Every policy replays the whole trace, so that each finds the cluster as it left it itself; only
jobs of the last part are measured. Neighbouring jobs share their fate, so intervals come from
a bootstrap over blocks of consecutive jobs, the same blocks for all policies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dovetail.agents.history import UNSEEN
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

    def __init__(self, trace: Trace, spec: str, seed: int, count: int) -> None:
        if count < 1:
            raise ConfigError(f"seeds is {count}, expected 1 or more")
        self.spec, self._seed = spec, seed
        self._count = count if spec.startswith("noisy") else 1
        self.knowledge = Knowledge(trace)
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


def kinds_known(trace: Trace) -> list[str]:
    """What clusters really know: predictions, and limits where every job has one."""
    return ["predicted"] + ([] if np.isnan(trace.jobs.limit).any() else ["limit"])


GROUPED = ("size", "run_time", "qos", "account", "user")


def who_pays(
    trace: Trace,
    cluster: Cluster,
    policy: Policy,
    draws: Draws,
    share: float = UNSEEN,
    baseline: Policy = SLURM,
) -> tuple[GroupWaits, ...]:
    """Waits of the last part by every known group, under Slurm's own order and a policy."""
    before, after = (
        Run(trace, cluster, one, draws.of(one)[0]).replay().wait for one in (baseline, policy)
    )
    unseen = np.arange(len(trace)) >= first_unseen(trace, share)
    return group_waits(trace.jobs, before, after, GROUPED, unseen)


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
) -> Unseen:
    """Measure policies on the last `share` of the trace, the first against the others."""
    first = first_unseen(trace, share)
    measured: list[Floats] = []
    for policy in policies:
        found = []
        for estimates in draws.of(policy):
            schedule = Run(trace, cluster, policy, estimates).replay()
            rows = np.flatnonzero(schedule.ran & (np.arange(len(trace)) >= first))
            found.append(measure(schedule, rows))
            progress((len(measured) + len(found) / len(draws)) / len(policies))
        measured.append(np.mean(found, axis=0))
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
