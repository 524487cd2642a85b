"""The compiled simulator of sliced GPUs gives the oracle's schedule, job by job."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from dovetail.domain.jobs import Floats
from dovetail.mig.gpus.table import A100_40
from dovetail.mig.policies import PLACERS, priced
from dovetail.mig.policy import (
    Busy,
    Keys,
    MomentRow,
    Placer,
    Preemption,
    SliceRows,
    ranking,
)
from dovetail.mig.simulator import MigRules, simulate_mig
from dovetail.mig.workload.estimates import mig_estimates
from tests.mig.simulator.cases import MigCase, Shuffler, mig_cases
from tests.oracles.mig import Oracle
from tests.oracles.mig_placers import NEVER_WAITS, ODD_PRICES, RANKS
from tests.simulator.test_against_oracle import quick


@ranking
def _unless_late(p: Floats, moment: MomentRow, slices: SliceRows, keys: Keys) -> None:
    hopeless = moment[0].left < moment[0].shortest or moment[0].busy == 0
    for i in range(len(slices)):
        late = slices[i].lateness > 0 and not hopeless
        keys[i, 0] = math.inf if late else -slices[i].size


@ranking
def _everything(p: Floats, moment: MomentRow, slices: SliceRows, keys: Keys) -> None:
    now = moment[0]
    counts = now.queued + 3 * now.overdue + 5 * now.free + 7 * now.slots
    counts += 11 * now.busy + 13 * now.compute + 17 * now.category
    time = now.now + now.shortest + min(1e6, now.left)
    rests = 0.0
    for rest in (now.rest1, now.rest2, now.rest3, now.rest4, now.rest7):
        rests += 0.0 if rest == math.inf else rest
    time += now.likely + now.spread + rests
    for i in range(len(slices)):
        one = slices[i]
        sizes = one.size + one.slices + one.mean_size + 3.0 * one.packed
        keys[i, 0] = counts * one.size % 5
        keys[i, 1] = (counts + sizes) * (one.duration + max(-1e6, one.lateness)) % 7.0
        keys[i, 2] = (time + one.energy) % 3.0
        keys[i, 3] = one.chance


ALL = {
    **PLACERS,
    "unless-late": Placer("unless-late", _unless_late),
    "everything": Placer("everything", _everything),
    "unless-late-passing": Placer("unless-late", _unless_late, passes=2),
    "odd-prices": priced(ODD_PRICES, "odd-prices", passes=1),
    "never-waits": priced(NEVER_WAITS, "never-waits"),
}


@pytest.mark.parametrize("placer", list(ALL))
@settings(quick, max_examples=12)
@given(case=mig_cases((A100_40,)))
def test_static_slices_of_one_type_give_the_schedule_of_the_oracle(
    placer: str, case: MigCase
) -> None:
    agree(case, placer, None, MigRules())


@pytest.mark.parametrize("preemption", list(Preemption), ids=lambda part: part.value)
@pytest.mark.parametrize("busy", [None, *Busy], ids=str)
@pytest.mark.parametrize("placer", list(ALL))
@settings(quick, max_examples=7)
@given(case=mig_cases())
def test_every_combination_on_mixed_gpus_gives_the_schedule_of_the_oracle(
    placer: str, busy: Busy | None, preemption: Preemption, case: MigCase
) -> None:
    shuffler = None if busy is None else Shuffler(case.seed)
    agree(case, placer, shuffler, MigRules(preemption, busy or Busy.SKIP))


@pytest.mark.parametrize("preemption", list(Preemption), ids=lambda part: part.value)
@pytest.mark.parametrize("estimates", ["noisy:0.5", "noisy:1.5", "predicted"])
@pytest.mark.parametrize("placer", list(ALL))
@settings(quick, max_examples=6)
@given(case=mig_cases())
def test_with_estimates_that_are_wrong_the_schedule_is_still_that_of_the_oracle(
    placer: str, estimates: str, preemption: Preemption, case: MigCase
) -> None:
    agree(case, placer, Shuffler(case.seed), MigRules(preemption, Busy.DRAIN), estimates)


def agree(
    case: MigCase,
    placer: str,
    shuffler: Shuffler | None,
    rules: MigRules,
    estimates: str = "exact",
) -> None:
    passes, told = ALL[placer].passes, mig_estimates(case.workload, estimates, case.seed)
    factors = told.factors.tolist()
    oracle = Oracle(case.workload, case.cluster, RANKS[placer], rules, case.seed, passes, factors)
    oracle.run(shuffler)
    ours = simulate_mig(
        case.workload, case.cluster, ALL[placer], shuffler, rules, case.seed, estimates=told
    )
    where = f"{placer}, {shuffler}, {rules}, {estimates}, seed {case.seed}"
    np.testing.assert_array_equal(ours.start, oracle.start, where)
    np.testing.assert_array_equal(ours.end, oracle.end, where)
    np.testing.assert_array_equal(ours.gpu, oracle.gpu, where)
    np.testing.assert_array_equal(ours.size, oracle.size, where)
    np.testing.assert_array_equal(ours.offset, oracle.offset, where)
    # Both add up the same pieces, the oracle event by event, the kernel GPU by GPU.
    np.testing.assert_allclose(ours.energy, oracle.energy, rtol=1e-12, err_msg=where)
    counts = (ours.repartitions, ours.preemptions, ours.events)
    assert counts == (oracle.repartitions, oracle.preemptions, oracle.events), where
