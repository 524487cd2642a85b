"""One run: all that a replay depends on, in one frozen object, and the schedule that it gives.

>>> from dovetail.traces.loader import load_trace
>>> trace = load_trace("synth:helios", jobs=200, seed=1, load=0.9, cluster_gpus=64)
>>> run = Run.of(trace, Cluster.parse("8x8"), "saf+none", estimates="exact")
>>> schedule = run.replay()
>>> schedule.config["order"], schedule.config["backfill"], schedule.config["estimates"]
('saf', 'none', 'exact')
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from dovetail.domain.arguments import expect, whole
from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.policy import Backfill, BackfillRule, Placement, SlurmBackfill
from dovetail.domain.provenance import version
from dovetail.domain.schedule import Schedule
from dovetail.domain.trace import Trace
from dovetail.policies.policy import Policy, PolicyLike, as_policy
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import default_estimates, make_estimates
from dovetail.simulator import simulate as simulate_parts
from dovetail.simulator.partition_access import with_default_times
from dovetail.traces.cluster_loader import load_cluster
from dovetail.traces.loader import load_trace


@dataclass(frozen=True, slots=True)
class Run:
    """The same run gives the same schedule, always."""

    trace: Trace
    cluster: Cluster
    policy: Policy
    estimates: Estimates
    seed: int | None = None  # that the estimates were drawn with; None: somebody else made them

    @classmethod
    def of(
        cls,
        trace: Trace,
        cluster: Cluster,
        policy: PolicyLike = "fcfs",
        estimates: str | Estimates | None = None,
        seed: int = 0,
    ) -> Run:
        """From what people write; without estimates those that a scheduler would have had."""
        policy = as_policy(policy)
        if not isinstance(estimates, Estimates):
            known = with_default_times(trace, cluster)
            told = policy.told(estimates or default_estimates(known))
            estimates = make_estimates(known, told, seed)
        return cls(trace, cluster, policy, estimates, seed)

    def replay(
        self, progress: Callable[[float], None] | None = None, checked: bool = False
    ) -> Schedule:
        """Simulate it; `progress` gets the share of jobs submitted so far."""
        order, place, fill = self.policy.parts()
        schedule = simulate_parts(
            self.trace, self.cluster, order, place, fill, self.estimates, HISTORY, progress,
            checked,
        )  # fmt: skip
        told = {"version": version()} | ({} if self.seed is None else {"seed": self.seed})
        return replace(schedule, config={**schedule.config, **told})


def simulate(
    trace: Trace | str | Path,
    cluster: Cluster | str | Path,
    order: PolicyLike = "fcfs",
    placement: str | Placement | None = None,
    backfill: str | BackfillRule | None = None,
    estimates: str | Estimates | None = None,
    seed: int = 0,
) -> Schedule:
    """Replay a trace on a cluster under one policy.

    `order` is a name such as `saf`, a whole policy such as `saf+none@fgd`, a checkpoint's folder,
    an `Ordering`, or a plain function of a job: `lambda job: job.gpus * job.estimate`.

    Without `estimates` the scheduler knows the users' limits if every job has one, else it
    predicts run times from jobs that have ended. `seed` matters to noisy estimates. Without
    `placement` it is best-fit, or what a checkpoint was trained with; without `backfill` EASY.
    """
    jobs, seed = load_trace(trace), whole("seed", seed, low=0)
    if estimates is not None:
        expect("estimates", estimates, str, Estimates, words="such as noisy:1, or Estimates")
    policy = _with_parts(order, placement, backfill)
    return Run.of(jobs, load_cluster(cluster), policy, estimates, seed).replay()


def _with_parts(
    order: PolicyLike, placement: str | Placement | None, backfill: str | BackfillRule | None
) -> Policy:
    if placement is not None:
        expect("placement", placement, str, Placement, words="a name, or a Placement")
    if backfill is not None:
        words = "none, easy, conservative or slurm"
        expect("backfill", backfill, str, Backfill, SlurmBackfill, words=words)
    policy = as_policy(order)
    match placement:
        case str():
            policy = replace(policy, placement=placement, placer=None)
        case Placement():
            policy = replace(policy, placement=placement.name, placer=placement)
    match backfill:
        case str():
            policy = replace(policy, backfill=backfill, rule=None)
        case Backfill() | SlurmBackfill():
            policy = replace(policy, backfill=backfill.value, rule=backfill)
    return policy
