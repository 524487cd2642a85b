"""No schedule on sliced GPUs beats the lower bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.domain.jobs import JobColumns
from dovetail.domain.trace import Trace
from dovetail.mig.evaluation.bounds import mig_bounds
from dovetail.mig.gpus.cluster import MIG_DAY_CLUSTER, MigCluster
from dovetail.mig.metrics import energy_joules, mean_tardiness
from dovetail.mig.policies import PLACERS
from dovetail.mig.policy import Busy, Preemption
from dovetail.mig.simulator import MigRules, simulate_mig
from dovetail.mig.workload.day import mig_day
from dovetail.mig.workload.jobs import MigWorkload, times_table
from tests.mig.simulator.cases import MigCase, Shuffler, mig_cases
from tests.simulator.test_against_oracle import quick

LITTLE = 1.0 + 1e-9


@settings(quick, max_examples=100)
@given(
    case=mig_cases(),
    placer=st.sampled_from(list(PLACERS)),
    preemption=st.sampled_from(list(Preemption)),
    changing=st.booleans(),
)
def test_no_schedule_of_all_jobs_beats_the_bounds(
    case: MigCase, placer: str, preemption: Preemption, changing: bool
) -> None:
    bounds = mig_bounds(case.workload, case.cluster)
    rules = MigRules(preemption, Busy.DRAIN)
    shuffler = Shuffler(case.seed) if changing else None
    schedule = simulate_mig(case.workload, case.cluster, PLACERS[placer], shuffler, rules)
    if not schedule.ran.all():
        return
    assert bounds.energy_joules <= energy_joules(schedule) * LITTLE
    assert bounds.makespan <= schedule.span * LITTLE
    if preemption is Preemption.NEVER:
        assert bounds.tardiness_mean <= mean_tardiness(schedule) * LITTLE + 1e-9


def test_linear_jobs_that_fill_whole_gpus_meet_the_bound_on_energy() -> None:
    times = np.tile(70.0 / np.array([1.0, 2, 3, 4, 7]), (4, 1))
    jobs = JobColumns(submit=[0.0] * 4, run=[70.0] * 4, gpus=[1] * 4).build()
    cluster = MigCluster.parse("2xa100-40")
    schedule = simulate_mig(MigWorkload(Trace(jobs), times_table(times)), cluster, PLACERS["eft"])
    bound = mig_bounds(schedule.workload, cluster)
    assert bound.energy_joules == pytest.approx(energy_joules(schedule))
    assert bound.makespan == pytest.approx(20.0)


def test_jobs_that_all_want_one_gpu_at_once_must_be_late() -> None:
    times = np.tile(70.0 / np.array([1.0, 2, 3, 4, 7]), (3, 1))
    jobs = JobColumns(submit=[0.0] * 3, run=[70.0] * 3, gpus=[1] * 3, deadline=[10.0] * 3).build()
    cluster = MigCluster.parse("1xa100-40")
    schedule = simulate_mig(MigWorkload(Trace(jobs), times_table(times)), cluster, PLACERS["eft"])
    assert mean_tardiness(schedule) * 60 == pytest.approx(10.0)
    bound = mig_bounds(schedule.workload, cluster).tardiness_mean * 60
    assert 5.0 < bound <= 10.0 * LITTLE


def test_a_published_day_is_within_a_half_of_the_bound_on_energy() -> None:
    day = mig_day(seed=0)
    bound = mig_bounds(day, MIG_DAY_CLUSTER).energy_joules
    spent = energy_joules(simulate_mig(day, MIG_DAY_CLUSTER, PLACERS["edf-most-packed"]))
    assert 0.65 < bound / spent <= 1.0
