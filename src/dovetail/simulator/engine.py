"""A trace, a cluster and policies in; a schedule out."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.compiled.functions import LazyFunction
from dovetail.compiled.native import Kept
from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.domain.jobs import Floats, Ints
from dovetail.domain.policy import (
    OBSERVE,
    PREDICT,
    Backfill,
    BackfillRule,
    History,
    OnlinePredictor,
    Ordering,
    Placement,
    SlurmBackfill,
)
from dovetail.domain.provenance import inputs_of
from dovetail.domain.schedule import RAN, Schedule
from dovetail.domain.trace import Trace
from dovetail.simulator.assigning_planner import AssigningPlanner
from dovetail.simulator.build import Tables
from dovetail.simulator.eligibility import add_dependencies
from dovetail.simulator.invariants import check
from dovetail.simulator.kernel.loop import ADVANCE
from dovetail.simulator.kernel.rules import RULES, Rules, make_rules, unsorted_rules
from dovetail.simulator.kernel.slurm_backfill import advance_slurm
from dovetail.simulator.node_classes import rank_nodes
from dovetail.simulator.node_sets import add_promises
from dovetail.simulator.outages import add_outages, changing_nodes
from dovetail.simulator.planner import Planner
from dovetail.simulator.rejections import NEVER_RAN, REASONS, REFUSED
from dovetail.simulator.warm import Window, nodes_seen, resume

STEPS = 20_000
"""Event times between looks at the outside world: progress, Ctrl-C."""

PLANNED_STEPS = 500
"""The same for a placement that plans, or an ordering in Python: about half a second."""


class Simulation:
    """One simulation that can be advanced bit by bit.

    simulation = Simulation(trace, cluster, order, place, Backfill.EASY, estimates)
    while simulation.advance(1): ...
    result = simulation.schedule()
    """

    def __init__(
        self,
        trace: Trace,
        cluster: Cluster,
        ordering: Ordering,
        placement: Placement,
        backfill: BackfillRule,
        estimates: Estimates,
        predictor: OnlinePredictor | None = None,
        warm: Window | None = None,
    ) -> None:
        ordering = ordering.under(cluster.slurm)
        predicts = ordering.uses_prediction
        if predicts and predictor is None:
            raise ConfigError(f"{ordering.name} needs a predictor")
        self.trace, self.cluster, self.ordering = trace, cluster, ordering
        self.placement, self.backfill, self.estimates = placement, backfill, estimates
        history = predictor.fresh(trace.jobs) if predicts and predictor else None
        self.tables = Tables(trace.jobs, cluster, ordering, placement, estimates, history, backfill)
        if backfill is Backfill.CONSERVATIVE:
            add_promises(self.tables, changing_nodes(self.tables.site))
        add_dependencies(self.tables, trace.jobs, warm.carried if warm is not None else 0)
        now = float(trace.jobs.submit[0]) if warm is None else warm.now
        add_outages(self.tables, trace.origin, now)
        rank_nodes(self.tables, placement)
        self.rules = make_rules(
            ordering,
            placement,
            predictor.predict if predicts and predictor else NO_PREDICTION,
            predictor.observe if predicts and predictor else NO_OBSERVATION,
        )
        if self.tables.world["linked"][0] or self.tables.world["eventful"][0]:
            self.rules = unsorted_rules(self.rules)
        if self.tables.world["eventful"][0]:
            self._kept_rules = Kept(self.rules, RULES)
            self.tables.world["kept_rules"] = self._kept_rules.address
        self.planner = _planner_of(placement, self.tables, self.rules)
        if isinstance(backfill, SlurmBackfill):
            self._advance = advance_slurm
            self.tables.plan_cycles(backfill)
        else:
            self._advance = ADVANCE[backfill]
        self._advance(self.tables.world, self.rules, 0)  # compile now, if ever: it is not measured
        self._seconds = 0.0
        self._over = False
        if warm is not None:
            resume(
                self.tables.world, self.rules, warm.now,
                warm.start, warm.chunk_offset, nodes_seen(warm, self.tables), warm.chunk_gpus,
            )  # fmt: skip

    def advance(self, steps: int) -> bool:
        """Go through up to `steps` event times; False when everything has happened."""
        began = time.perf_counter()
        more = self._advance(self.tables.world, self.rules, steps)
        self._seconds += time.perf_counter() - began
        self._over = not more
        self.ordering.score.raise_failure(self.rules.parameters, self.tables.jobs)
        if self.planner is not None:
            self.planner.raise_failure()
        return more

    @property
    def fraction_submitted(self) -> float:
        return float(self.tables.world["submitted"][0] / len(self.trace))

    def schedule(self) -> Schedule:
        """What has happened so far, as a result table."""
        tables, world = self.tables, self.tables.world[0]
        count = tables.runs["part_count"]
        offset = np.concatenate(([0], np.cumsum(count))).astype(np.int64)
        order = np.repeat(tables.runs["part_first"] - offset[:-1], count) + np.arange(offset[-1])
        span = float(world["now"] - self.trace.jobs.submit[0])
        return Schedule(
            trace=self.trace,
            cluster=self.cluster,
            start=tables.runs["start"].copy(),
            end=tables.runs["end"].copy(),
            estimate=tables.jobs["estimate"].copy(),
            backfilled=tables.runs["backfilled"].copy(),
            rejected=self._rejected(),
            reasons=REASONS,
            chunk_offset=offset,
            chunk_node=tables.site.real[tables.part_table["node"][order]],
            chunk_gpus=tables.part_table["gpus"][order],
            events=int(world["events"]),
            fragmentation=float(world["stranded_area"]) / span if span > 0 else 0.0,
            sim_seconds=self._seconds,
            config=self.config(),
            eligible=tables.jobs["submit"].copy() if world["linked"] or world["eventful"] else None,
            restarts=tables.runs["restarts"].copy() if world["eventful"] else None,
        )

    def _rejected(self) -> Ints:
        """Why jobs did not run, at the end also of those that never could."""
        tables = self.tables
        found = np.where(tables.runs["refused"], REASONS.index(REFUSED), tables.rejected)
        never = (found == RAN) & np.isnan(tables.runs["start"])
        return np.where(never, REASONS.index(NEVER_RAN), found) if self._over else found

    def config(self) -> dict[str, Any]:
        """What the schedule depends on; worked out for a result only, as hashing takes its time."""
        plans = {"plans": self.planner.counts()} if self.planner else {}
        return {
            "order": self.ordering.name,
            "order_parameters": dict(self.ordering.parameters),
            "order_weights": digest_of(self.ordering.weights),
            "placement": self.placement.name,
            "backfill": self.backfill.value,
            "estimates": self.estimates.name,
            **inputs_of(self.trace, self.cluster),
            **plans,
            **self.tables.refused_wishes,
        }


def simulate(
    trace: Trace,
    cluster: Cluster,
    ordering: Ordering,
    placement: Placement,
    backfill: BackfillRule,
    estimates: Estimates,
    predictor: OnlinePredictor | None = None,
    progress: Callable[[float], None] | None = None,
    checked: bool = False,
) -> Schedule:
    """Replay a trace on a cluster under a policy; `checked`: test the state after every event."""
    simulation = Simulation(trace, cluster, ordering, placement, backfill, estimates, predictor)
    simulation.tables.world["checked"] = checked
    slow = simulation.planner is not None or ordering.score.in_python
    steps = 1 if checked else PLANNED_STEPS if slow else STEPS
    more = True
    while more:
        more = simulation.advance(steps)
        if checked:
            check(simulation.tables)
        if progress is not None:
            progress(simulation.fraction_submitted)
    return simulation.schedule()


def simulate_window(
    window: Window,
    cluster: Cluster,
    ordering: Ordering,
    placement: Placement,
    backfill: BackfillRule,
    estimates: Estimates,
    predictor: OnlinePredictor | None = None,
) -> Schedule:
    """Go on from the state that a window starts in, until all its jobs have ended.

    Estimates are those of the window's rows. Jobs that arrive learn from runs that end within
    the window only; those of before are not carried into it.
    """
    simulation = Simulation(
        window.trace, cluster, ordering, placement, backfill, estimates, predictor, window
    )
    while simulation.advance(STEPS):
        pass
    return simulation.schedule()


def _planner_of(placement: Placement, tables: Tables, rules: Rules) -> Planner | None:
    if placement.assigner is not None:
        return AssigningPlanner(tables, rules, placement.assigner)
    return Planner(tables, rules, placement.optimiser) if placement.optimiser else None


def digest_of(weights: Floats) -> str | None:
    """A short hash of a network's weights; None where there are none."""
    return hashlib.sha256(weights.tobytes()).hexdigest()[:16] if len(weights) else None


def _predict_nothing(history: History, job: int) -> float:
    return 1.0


def _observe_nothing(history: History, job: int, run: float) -> None:
    return None


NO_PREDICTION, NO_OBSERVATION = (
    LazyFunction(PREDICT, _predict_nothing),
    LazyFunction(OBSERVE, _observe_nothing),
)
"""Stand in where nobody asks."""
