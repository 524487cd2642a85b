"""Passes that stop to ask give the schedule of EASY when the answers follow an ordering."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dovetail.compiled.functions import kernel
from dovetail.domain.cluster import Cluster
from dovetail.domain.estimates import Estimates
from dovetail.domain.policy import Backfill
from dovetail.domain.trace import Trace
from dovetail.envs.config import QueuePriorityConfig
from dovetail.envs.visible_jobs import SHOWN, own_scratch, show
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction import HISTORY
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import Simulation, simulate
from dovetail.simulator.invariants import check
from dovetail.simulator.kernel.rules import Rules, make_rules
from dovetail.simulator.kernel.steps import choose, decline, go_on, may_decline, wait
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of
from tests.oracles.answers import answer_of, difference
from tests.oracles.cases import Case, cases
from tests.oracles.simulator import Answer

ORDERS = ["fcfs", "saf", "sjf", "lcfs", "wfp3", "unicep", "slurm-multifactor", "edf", "priority"]
quick = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


@kernel
def play(world: Any, rules: Rules, seed: int, declines: float, waits: float) -> tuple[int, int]:
    """Always the base's choice, or with a seed any valid action, or none; how many decisions there
    were and how often it declined.

    One kernel for both: each takes seconds to compile.
    """
    np.random.seed(max(seed, 0))  # noqa: NPY002 - what compiled code has
    w, rows, decisions, declined = world[0], np.empty(SHOWN, np.int64), 0, 0
    more = go_on(w, rules, 0)
    while more:
        decisions += 1
        count = show(w, own_scratch(w), rows)
        if np.random.random() < waits:  # noqa: NPY002
            more = wait(w, rules, rows[0])
            continue
        step = 0
        if may_decline(w) and np.random.random() < declines:  # noqa: NPY002
            step = decline(w)
            declined += 1
        elif seed < 0:
            step = choose(w, rules, rows[0])
        else:
            step = choose(w, rules, rows[np.random.randint(0, count)])  # noqa: NPY002
        more = go_on(w, rules, step)
    return decisions, declined


IN_ORDER = -1
"""Instead of a seed."""


def prepared(
    trace: Trace, cluster: Cluster, order: str, placement: str, estimates: Estimates
) -> tuple[Simulation, Rules]:
    base = QueuePriorityConfig(order=order).base
    place = PLACEMENTS[placement]
    return (
        Simulation(trace, cluster, base, place, Backfill.EASY, estimates, HISTORY),
        make_rules(base, place, HISTORY.predict, HISTORY.observe),
    )


def stepped(
    trace: Trace, cluster: Cluster, order: str, placement: str, estimates: Estimates
) -> Answer:
    simulation, rules = prepared(trace, cluster, order, placement, estimates)
    play(simulation.tables.world, rules, IN_ORDER, 0.0, 0.0)
    return answer_of(simulation.schedule())


def straight(
    trace: Trace, cluster: Cluster, order: str, placement: str, estimates: Estimates
) -> Answer:
    base = QueuePriorityConfig(order=order).base
    place = PLACEMENTS[placement]
    return answer_of(simulate(trace, cluster, base, place, Backfill.EASY, estimates, HISTORY))


@settings(quick, max_examples=120)
@given(
    case=cases().map(Case.unregulated),
    order=st.sampled_from(ORDERS),
    placement=st.sampled_from(list(PLACEMENTS)),
)
def test_choosing_in_order_gives_the_schedule_of_easy(
    case: Case, order: str, placement: str
) -> None:
    given = case.trace, case.cluster, order, placement, case.estimates
    assert difference(straight(*given), stepped(*given)) is None


@pytest.mark.parametrize("order", ORDERS)
def test_choosing_in_order_gives_the_schedule_of_easy_on_a_congested_cluster(order: str) -> None:
    trace = synthesize(WORKLOADS["helios"], jobs=2000, seed=3, load=1.2, cluster_gpus=64)
    given = trace, cluster_of("8x8"), order, "best-fit", make_estimates(trace, "noisy:1")
    assert difference(straight(*given), stepped(*given)) is None


@settings(quick, max_examples=100)
@given(
    case=cases().map(Case.unregulated),
    declines=st.sampled_from([0.0, 0.3, 1.0]),
    waits=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_whatever_is_chosen_every_job_runs_and_no_reserved_one_is_delayed(
    case: Case, declines: float, waits: float
) -> None:
    simulation, rules = prepared(case.trace, case.cluster, "fcfs", "best-fit", case.estimates)
    simulation.tables.world["checked"] = True
    play(simulation.tables.world, rules, 1, declines, waits)
    check(simulation.tables)
    schedule = simulation.schedule()
    assert not np.isnan(schedule.start[schedule.ran]).any()
    assert simulation.tables.world["delayed"][0] == 0


def test_after_declining_nothing_passes_the_reserved_job() -> None:
    trace = synthesize(WORKLOADS["helios"], jobs=500, seed=3, load=1.2, cluster_gpus=64)
    estimates = make_estimates(trace, "exact")
    simulation, rules = prepared(trace, cluster_of("8x8"), "fcfs", "best-fit", estimates)
    _, often = play(simulation.tables.world, rules, 0, 1.0, 0.0)
    assert often > 0
    other, rules = prepared(trace, cluster_of("8x8"), "fcfs", "best-fit", estimates)
    play(other.tables.world, rules, 0, 0.0, 0.0)
    assert simulation.schedule().backfilled.sum() < other.schedule().backfilled.sum()
