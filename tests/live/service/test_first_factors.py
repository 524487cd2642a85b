"""What new jobs get before the daemon has looked at them."""

from __future__ import annotations

from dovetail.live.cycle.plan import CyclePlan
from dovetail.live.guardrails.base import GuardrailOutcome
from dovetail.live.guardrails.slurm_order import Moved
from dovetail.live.model.decision import Change, Decision, Knob
from dovetail.live.service.first_factors import FirstFactor, typical_factors
from tests.live.builders import snapshot, waiting


def plan(order: tuple[int, ...], *changes: Change) -> CyclePlan:
    return CyclePlan(Decision(order), (), GuardrailOutcome.PASS, changes, Moved(0.0, 0), 0.0)


def test_new_jobs_get_the_middle_of_what_jobs_like_them_have() -> None:
    small = [waiting(i) for i in range(1, 6)]
    large = [waiting(i, gpus=8) for i in range(11, 14)]
    queue = snapshot([*small, *large], site={1: 10, 2: 20, 3: 30, 4: 40, 5: 50})
    moved = Change(5, "5", Knob.SITE_FACTOR, 50, 25, "")
    found = typical_factors(queue, plan((1, 2, 3, 4, 5, 11, 12, 13), moved))
    assert found == (FirstFactor("gpu", 1, 25),)  # three large ones say nothing yet
