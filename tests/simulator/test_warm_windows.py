"""Windows that start from the state that the trace had then."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dovetail.domain.estimates import EARLY, Estimates
from dovetail.domain.policy import Backfill
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS
from dovetail.prediction.estimates import make_estimates
from dovetail.simulator import Simulation, simulate, simulate_window, warm_window
from dovetail.simulator.invariants import check
from dovetail.traces.synthetic import WORKLOADS, synthesize
from tests.builders import cluster_of
from tests.simulator.knowing import KNOWING

TRACE = synthesize(WORKLOADS["helios"], jobs=600, seed=3, load=1.1, cluster_gpus=64)
CLUSTER = cluster_of("8x8")


@pytest.mark.parametrize("first", [1, 50, 200, 333, 555])
@pytest.mark.parametrize("spec", ["exact", "noisy:1"])
def test_a_warm_window_goes_on_as_the_whole_trace_did(first: int, spec: str) -> None:
    # First come, first served without backfilling: what comes after a window cannot touch it.
    estimates = make_estimates(TRACE, spec)
    policy = ORDERINGS["fcfs"], PLACEMENTS["best-fit"], Backfill.NONE
    whole = simulate(TRACE, CLUSTER, *policy, estimates)
    window = warm_window(whole, first, 100)
    told = Estimates(estimates.name, estimates.seconds[window.rows])
    simulation = Simulation(window.trace, CLUSTER, *policy, told, warm=window)
    check(simulation.tables)
    while simulation.advance(1):
        check(simulation.tables)
    found = simulation.schedule()
    assert np.array_equal(found.start, whole.start[window.rows])
    assert np.array_equal(found.end, whole.end[window.rows])
    jobs = range(window.carried, len(window.trace))
    assert [found.where(job) for job in jobs] == [whole.where(window.rows[job]) for job in jobs]


def test_a_window_carries_exactly_the_jobs_that_ran_or_waited() -> None:
    policy = ORDERINGS["fcfs"], PLACEMENTS["best-fit"], Backfill.EASY
    whole = simulate(TRACE, CLUSTER, *policy, make_estimates(TRACE, "exact"))
    window = warm_window(whole, 300, 50)
    carried = window.rows[: window.carried]
    assert np.all(carried < 300)
    assert np.all(whole.end[carried] > window.now)
    waited = np.isnan(window.start)
    assert waited.any()
    assert np.all(whole.start[carried][waited] >= window.now)
    assert window.own.sum() == 50


@pytest.mark.parametrize("spec", ["exact", "noisy:1"])
def test_a_warm_window_in_which_nobody_waits_yet_promises_as_the_whole_trace_did(spec: str) -> None:
    estimates = make_estimates(TRACE, spec)
    policy = ORDERINGS["fcfs"], PLACEMENTS["best-fit"], Backfill.CONSERVATIVE
    whole = simulate(TRACE, CLUSTER, *policy, estimates)
    submit = TRACE.jobs.submit
    first = next(row for row in range(5, len(TRACE)) if np.all(whole.start[:row] < submit[row]))
    window = warm_window(whole, first, len(TRACE) - first)
    told = Estimates(estimates.name, estimates.seconds[window.rows])
    found = simulate_window(window, CLUSTER, *policy, told)
    assert np.any(found.start > window.trace.jobs.submit)
    assert np.array_equal(found.start, whole.start[window.rows])


def believed(told: Estimates, job: int, elapsed: float) -> float:
    """Seconds that a job is believed to take in all, when it has run so long."""
    length = first = float(told.reserve[job])
    for at, later in enumerate(told.revisions[job].tolist()):
        if elapsed < (EARLY[at] * first if at < len(EARLY) else length):
            return length
        length = later
    while elapsed >= length:
        length *= 2.0
    return length


def test_a_warm_window_knows_of_gpus_in_use_what_the_whole_trace_did() -> None:
    # Jobs of the window itself are in no queue yet: the order of what is carried tells.
    estimates = make_estimates(TRACE, "predicted:history")
    whole = Simulation(TRACE, CLUSTER, KNOWING, PLACEMENTS["best-fit"], Backfill.EASY, estimates)
    while whole.advance(1) and whole.tables.world["submitted"][0] < 300:
        check(whole.tables)
    at = {name: whole.tables.world[name][0] for name in ("used_size", "used_since", "used_until")}
    now = float(whole.tables.world["now"][0])
    schedule = simulate(TRACE, CLUSTER, KNOWING, PLACEMENTS["best-fit"], Backfill.EASY, estimates)
    first = int(whole.tables.world["submitted"][0])
    running = (schedule.start <= now) & (schedule.end > now)
    assert at["used_size"] == 1024 * TRACE.jobs.gpus[running].sum()
    since = np.floor(schedule.start[running]) @ (1024 * TRACE.jobs.gpus[running])
    assert at["used_since"] == since
    window = warm_window(schedule, first, 50)
    told = estimates.take(window.rows)
    policy = KNOWING, PLACEMENTS["best-fit"], Backfill.EASY
    warm = Simulation(window.trace, CLUSTER, *policy, told, warm=window)
    began = (schedule.start < window.now) & (schedule.end > window.now)
    assert warm.tables.world["used_size"][0] == 1024 * TRACE.jobs.gpus[began].sum()
    until = 0
    for job in np.flatnonzero(began).tolist():
        length = believed(estimates, job, window.now - schedule.start[job])
        until += 1024 * int(TRACE.jobs.gpus[job]) * math.floor(schedule.start[job] + length)
    assert warm.tables.world["used_until"][0] == until
    while warm.advance(1):
        pass
    assert warm.tables.world["used_size"][0] == 0
    assert warm.tables.world["used_since"][0] == warm.tables.world["used_until"][0] == 0
