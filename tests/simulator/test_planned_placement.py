"""Placements that plan: asked where there is a choice, believed only where they are right."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import Estimates
from dovetail.domain.plan import JobPlan, Plan
from dovetail.domain.policy import Backfill, Placement
from dovetail.domain.problem import Problem
from dovetail.evaluation.run import Run
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.policies.policy import Policy
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import Simulation, simulate
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import JobRow, cluster_of, estimates_of, job, trace_of
from tests.oracles.answers import answer_of, difference
from tests.oracles.invariants import check

PLANNING = [name for name, placement in PLACEMENTS.items() if placement.optimiser is not None]
CROWD = synthesize(WORKLOADS["helios"], jobs=100, seed=2, load=1.5, cluster_gpus=32)


def played(
    placement: Placement, cluster: str, *rows: JobRow, backfill: Backfill = Backfill.EASY
) -> Simulation:
    simulation = Simulation(
        trace_of(*rows), cluster_of(cluster), ORDERINGS["fcfs"], placement, backfill,
        estimates_of(*rows),
    )  # fmt: skip
    while simulation.advance(1):
        pass
    return simulation


def planning(answer: Callable[[Problem], tuple[int, ...]]) -> Placement:
    """A placement that puts the first job on the nodes answered, whatever stands there."""

    def optimiser(problem: Problem) -> Plan:
        return Plan((JobPlan(0, 0, 0, answer(problem)),), 0, "test", None, 0.0, "")

    return replace(PLACEMENTS["best-fit"], optimiser=optimiser)


# Half of node 0 is busy. Best-fit puts two GPUs beside it, and the gang finds 2 + 8 free.
STRANDED = (job(0, 1000, 4), job(1, 500, 2), job(1, 100, 8, nodes=2))


def test_best_fit_strands_the_gang() -> None:
    assert played(PLACEMENTS["best-fit"], "2x8", *STRANDED).schedule().start[2] == 501


@pytest.mark.parametrize("backfill", list(Backfill), ids=lambda backfill: backfill.value)
@pytest.mark.parametrize("name", PLANNING)
def test_a_plan_leaves_room_for_the_gang_behind(name: str, backfill: Backfill) -> None:
    simulation = played(PLACEMENTS[name], "2x8", *STRANDED, backfill=backfill)
    assert simulation.schedule().start[2] == 1


@pytest.mark.parametrize("name", PLANNING)
def test_without_a_choice_nobody_is_asked_and_the_schedule_is_that_of_best_fit(name: str) -> None:
    rows = [job(3 * i, 40 + 7 * i, 8 * (1 + i % 3)) for i in range(20)]
    planned, packed = (played(PLACEMENTS[each], "4x8", *rows) for each in (name, "best-fit"))
    assert planned.planner is not None
    assert planned.planner.asked == 0
    assert difference(answer_of(packed.schedule()), answer_of(planned.schedule())) is None


@pytest.mark.parametrize("estimates", ["noisy:1", "predicted"])
@pytest.mark.parametrize("backfill", list(Backfill), ids=lambda backfill: backfill.value)
@pytest.mark.parametrize("name", PLANNING)
def test_the_state_stays_sound_and_every_job_runs(
    name: str, backfill: Backfill, estimates: str
) -> None:
    schedule = simulate(
        CROWD, cluster_of("2x8:v100,4x4:t4", speed={"t4": 0.5}), ORDERINGS["saf"],
        PLACEMENTS[name], backfill, make_estimates(CROWD, estimates), HISTORY, checked=True,
    )  # fmt: skip
    check(schedule)
    assert np.isfinite(schedule.end[schedule.ran]).all()


@pytest.mark.parametrize(
    "nodes",
    [(), (0, 1), (7,), (-1,), (0,)],
    ids=["none", "too many", "no such node", "negative", "full"],
)
def test_a_plan_that_cannot_be_is_refused_and_counted_and_best_fit_decides(
    nodes: tuple[int, ...],
) -> None:
    rows = job(0, 100, 8), job(0, 100, 3), job(1, 10, 2), job(1, 10, 2), job(1, 10, 8)
    wrong = played(planning(lambda problem: nodes), "3x8", *rows)
    packed = played(PLACEMENTS["best-fit"], "3x8", *rows)
    assert wrong.planner is not None
    assert wrong.planner.refused == wrong.planner.asked > 0
    assert wrong.schedule().config["plans"]["planned"] == 0
    assert difference(answer_of(packed.schedule()), answer_of(wrong.schedule())) is None


def test_a_plan_on_reserved_nodes_is_refused_if_the_job_would_stay_too_long() -> None:
    # Node 0 is full until 100, node 1 holds 4 GPUs until 50; a gang of both is to start at 100.
    rows = job(0, 100, 8), job(0, 50, 4), job(1, 10, 16), job(1, 300, 2), job(1, 300, 2)
    schedule = played(planning(lambda problem: (1,)), "2x8,1x4:t4", *rows).schedule()
    assert schedule.start[2] == 100
    assert [schedule.where(row)[0][0] for row in (3, 4)] == [schedule.cluster.nodes[2].name] * 2


def test_what_goes_wrong_in_a_plan_is_raised() -> None:
    def fails(problem: Problem) -> tuple[int, ...]:
        raise ZeroDivisionError("in the plan")

    with pytest.raises(ZeroDivisionError, match="in the plan"):
        played(planning(fails), "2x8", *STRANDED)


def test_only_milp_needs_highs_and_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    played(PLACEMENTS["multistart"], "2x8", *STRANDED)
    played(PLACEMENTS["rltune"], "2x8", *STRANDED)
    with pytest.raises(ConfigError, match=r"pip install 'dovetail-scheduler\[milp\]'"):
        played(PLACEMENTS["milp"], "2x8", *STRANDED)


@pytest.mark.parametrize("name", PLANNING)
def test_a_planning_placement_works_wherever_a_placement_is_named(name: str) -> None:
    policy = Policy.parse(f"saf+easy@{name}")
    assert policy.label() == f"saf+easy@{name}"
    schedule = Run(CROWD, cluster_of("4x8"), policy, Estimates("exact", CROWD.jobs.run)).replay()
    assert schedule.config["placement"] == name
