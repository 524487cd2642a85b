"""From a snapshot to a decision: the policy that ran in the simulator, on the queue as it is now.

>>> decider = Decider(Policy.parse("sjf"), ActConfig())
>>> decision = decider.decide(REHEARSAL)
>>> decision.order, decision.reasons[2]
((2,), 'sjf puts it 1 of 1 (score 60)')

The queue becomes a warm window of the simulator, and the policy scores it there: the same object,
the same facts, the same code as in a replay.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from dovetail.domain.jobs import Bools, Floats, Ints
from dovetail.domain.policy import Backfill
from dovetail.live.config import ActConfig
from dovetail.live.cycle.feature_hints import features_of_types
from dovetail.live.cycle.gpu_speeds import speeds_in
from dovetail.live.cycle.queue_window import Estimate, QueueWindow, QueueWindows
from dovetail.live.cycle.selection import PLAIN_REASONS, JobSelection
from dovetail.live.guardrails.starvation import NOT_ITS_TURN
from dovetail.live.model.decision import Decision, Hint
from dovetail.live.model.snapshot import Factor, LiveJob, LiveNode, Snapshot
from dovetail.policies.policy import Policy
from dovetail.prediction import HISTORY
from dovetail.simulator import Simulation
from dovetail.simulator.engine import digest_of
from dovetail.simulator.kernel.ranking import rank_waiting, start_now

REHEARSAL = Snapshot(
    time=100.0,
    jobs=(
        LiveJob(1, "1", "RUNNING", submit=1.0, start=2.0, limit=60.0, gpus=1, hosts=("node",)),
        LiveJob(2, "2", "PENDING", submit=3.0, eligible=3.0, limit=60.0, gpus=1, priority=1),
    ),
    nodes=(LiveNode("node", "MIXED", gpus=2),),
    factors={2: Factor(1, 0, False)},
)
"""The smallest queue that a decision uses all code for."""

KEEPS, MAY_NOT_PASS = "keeps GPUs free", "may not pass"
"""Wishes of a policy that an order does not tell Slurm."""

NO_ROW = "the policy has nothing to say about it"


class Decider:
    """One policy, loaded once; decisions depend on the snapshot alone."""

    def __init__(self, policy: Policy, config: ActConfig, estimate: Estimate | None = None) -> None:
        self.policy, self.config = policy, config
        self._windows = QueueWindows(estimate, speeds_in(config.speeds))
        self._selection = JobSelection(config)
        self._order, self._place, _ = policy.parts()
        self.model = digest_of(self._order.weights) or ""
        self.decide(REHEARSAL)  # compiles what the first decision would else be late with

    def decide(self, snapshot: Snapshot) -> Decision:
        """An order of the jobs that may be touched; empty where there are none."""
        began = time.perf_counter()
        touchable, untouched = self._selection.of(snapshot)
        if not touchable:
            return self._decision((), frozenset(), {}, {}, untouched, (0.0, 0.0), {}, began)
        queue = self._windows.of(snapshot)
        simulation = self._simulation(queue)
        rows, scores, unexpressed = self._ranked(simulation)
        started = _started_now(simulation, barred_rows(queue, snapshot))
        # Those first that start now without delaying the first that cannot: Slurm's main scheduler
        # goes no further than that one, and its backfilling plans with whole nodes only.
        passing = np.argsort(~np.isin(rows, started), kind="stable")
        rows, scores = rows[passing], scores[passing]
        may = snapshot.pending_ids.difference(untouched)
        ids = queue.ids[rows].tolist()
        ranked, own_rows = ids, rows
        if not may.issuperset(ids):
            kept = np.fromiter(map(may.__contains__, ids), np.bool_, len(ids))
            own_rows = rows[kept]
            ranked = queue.ids[own_rows].tolist()
        missing = may.difference(ranked) if len(ranked) < len(may) else frozenset[int]()
        with_row = may.difference(missing) if missing else may
        near = near_the_head(ranked, own_rows, queue, self.config.horizon)
        order = tuple(ranked) if near is None else tuple(job for job in ranked if job in near)
        reasons = self._reasons(ids, scores, may, len(snapshot.pending))
        hints = _hints(simulation, started, queue, snapshot, may) if self.config.hints else {}
        if self.config.hint_by == "features":
            hints = by_features(hints, snapshot)
        return self._decision(
            order,
            with_row.difference(order),
            reasons,
            hints,
            {**untouched, **dict.fromkeys(missing, NO_ROW)},
            (float(scores.min()), float(scores.max())) if len(scores) else (0.0, 0.0),
            unexpressed,
            began,
        )

    def _decision(
        self,
        order: tuple[int, ...],
        beyond: frozenset[int],
        reasons: Mapping[int, str],
        hints: Mapping[int, Hint],
        untouched: Mapping[int, str],
        score_range: tuple[float, float],
        unexpressed: Mapping[str, int],
        began: float,
    ) -> Decision:
        return Decision(
            order=order,
            beyond=beyond,
            reasons=reasons,
            hints=hints,
            untouched=untouched,
            policy=self.policy.label("easy", "best-fit"),
            model=self.model,
            seconds=time.perf_counter() - began,
            score_range=score_range,
            unexpressed=unexpressed,
        )

    def _simulation(self, queue: QueueWindow) -> Simulation:
        trace = queue.window.trace
        return Simulation(
            trace,
            queue.cluster,
            self._order,
            self._place,
            Backfill.EASY,
            queue.estimates,
            HISTORY,
            queue.window,
        )

    def _ranked(self, simulation: Simulation) -> tuple[Ints, Floats, Mapping[str, int]]:
        """Rows of waiting jobs in order, their scores, and wishes that are no order."""
        count = len(simulation.trace)
        rows, out = np.empty(count, np.int64), np.empty((3, count))
        found = rank_waiting(simulation.tables.world, simulation.rules, rows, *out)
        rows, (scores, gates, keeps) = rows[:found], out[:, :found]
        unexpressed = wishes_of(simulation, rows, gates, keeps)
        order = np.lexsort((rows, scores))
        return rows[order], scores[order], unexpressed

    def _reasons(
        self, ids: Sequence[int], scores: Floats, may: frozenset[int], waiting: int
    ) -> dict[int, str]:
        name = self.policy.order
        values = scores.tolist()
        return {
            job: f"{name} puts it {place} of {waiting} (score {values[place - 1]:.6g})"
            for place, job in enumerate(ids[: self.config.horizon], start=1)
            if job in may
        }


def wishes_of(
    simulation: Simulation, rows: Ints, gates: Floats, keeps: Floats
) -> Mapping[str, int]:
    """Jobs that would fit now, but that the policy would not let start: Slurm starts them.

    Neither a place in the order nor anything else that ends by itself holds a job back that fits
    (docs/decisions/0060).
    """
    if not (np.any(gates < 0.0) or np.any(keeps > 0.0)):
        return {}
    jobs = simulation.tables.jobs
    part = simulation.tables.demand_facts[jobs["demand"][rows]]
    free, fits = part["free_gpus"], part["fits"]
    kept = fits & (keeps > 0.0) & (free < part["total_gpus"]) & (free - jobs["gpus"][rows] < keeps)
    return {KEEPS: int(kept.sum()), MAY_NOT_PASS: int((fits & (gates < 0.0)).sum())}


def barred_rows(queue: QueueWindow, snapshot: Snapshot) -> Bools:
    """Waiting jobs that Slurm would not start whatever is free: at a limit, held, too early.

    Slurm passes them over and reserves nothing for them: they neither take room here nor block.
    """
    barred = [job.id for job in snapshot.pending if is_barred(job, snapshot.time)]
    return np.isin(queue.ids, np.array(barred, np.int64))


def is_barred(job: LiveJob, now: float) -> bool:
    """Whether something else than its turn keeps a waiting job from starting."""
    if job.priority == 0 or job.dependency or job.reservation or job.eligible > now:
        return True
    # Ten thousand jobs wait for their turn mostly: that is asked first.
    return job.reason not in PLAIN_REASONS and job.reason.startswith(NOT_ITS_TURN)


def _started_now(simulation: Simulation, barred: Bools) -> Ints:
    """The rows that a pass starts at this moment; it has been made then."""
    before = np.isfinite(simulation.tables.runs["start"])
    start_now(simulation.tables.world, simulation.rules, barred)
    if simulation.planner is not None:
        simulation.planner.raise_failure()
    return np.flatnonzero(np.isfinite(simulation.tables.runs["start"]) & ~before)


def _hints(
    simulation: Simulation,
    started: Ints,
    queue: QueueWindow,
    snapshot: Snapshot,
    may: frozenset[int],
) -> dict[int, Hint]:
    """The node of each job that a pass would start now on one node, and that asks for none."""
    runs, parts = simulation.tables.runs, simulation.tables.part_table
    hints = {}
    for row in started[runs["part_count"][started] == 1].tolist():
        job = snapshot.by_id[int(queue.ids[row])]
        if job.id in may and is_free(job):
            node = queue.cluster.nodes[parts["node"][runs["part_first"][row]]]
            hints[job.id] = Hint(node=node.name)
    return hints


def by_features(hints: Mapping[int, Hint], snapshot: Snapshot) -> dict[int, Hint]:
    """Any node with GPUs of the same type instead of one node; nothing where no feature says so."""
    features = features_of_types(snapshot.nodes) if hints else {}
    types = {node.name: node.gpu_type for node in snapshot.nodes} if features else {}
    wished = {job: features.get(types.get(hint.node, ""), "") for job, hint in hints.items()}
    return {
        job: Hint(feature=feature)
        for job, feature in wished.items()
        # Who asks for a type of GPU has said it already.
        if feature and not snapshot.by_id[job].gpu_type
    }


def near_the_head(
    ranked: Sequence[int], rows: Ints, queue: QueueWindow, horizon: int
) -> set[int] | None:
    """The jobs whose place can matter before the next cycles; None: all of them.

    Those at the head of our order or of Slurm's, those that have waited longest, and the first of
    every account: all that a guardrail may lift or protect. Ten thousand jobs are guarded in a
    fifth of the time. ranked, rows: the jobs in our order, and their rows of the queue.
    """
    if len(ranked) <= 3 * horizon:
        return None
    own, account = queue.window.trace.jobs.priority[rows], queue.columns.account[rows]
    best = np.full(int(account.max()) + 2, -np.inf)  # the last for those of no account
    np.maximum.at(best, account, own)
    leading = np.flatnonzero(own == best[account])
    first = np.full(len(best), -1)
    first[account[leading[::-1]]] = leading[::-1]  # of equals the first in our order stays
    oldest = _lowest(queue.columns.eligible[rows], horizon)
    places = np.concatenate((_lowest(-own, horizon), oldest, first[first >= 0]))
    return {*ranked[:horizon], *map(ranked.__getitem__, places.tolist())}


def _lowest(values: Floats, count: int) -> Ints:
    """Places of the lowest values; of equal ones the first. A fifth of the time of sorting all."""
    most = np.partition(values, count - 1)[count - 1]
    below = np.flatnonzero(values < most)
    return np.concatenate((below, np.flatnonzero(values == most)[: count - len(below)]))


def is_free(job: LiveJob) -> bool:
    """Whether a job leaves the choice of nodes to the scheduler."""
    return not (job.wants or job.avoids or job.features or job.tasks > 1 or job.nodes > 1)
