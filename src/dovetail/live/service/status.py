"""What `dovetail live status` shows: the last cycle, and the head of the order with reasons."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from dovetail.live.cycle.controller import LiveController
from dovetail.live.cycle.plan import CyclePlan
from dovetail.live.cycle.report import CycleReport
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import Snapshot
from dovetail.policies.trained_objective import trained_objective

HEAD = 20
"""Jobs at the head of the order that are shown."""


def status_of(
    report: CycleReport, controller: LiveController, idle: Sequence[str] = ()
) -> dict[str, Any]:
    """Plain values for a JSON file; the order only where it is to be shown.

    `idle`: jobs that hold idle GPUs, in words.
    """
    status: dict[str, Any] = {
        "pid": os.getpid(),
        "wall": controller.clocks.wall(),
        "mode": controller.mode.value,
        "policy": controller.config.policy,
        "sentence": report.sentence,
        "seconds": report.times.total,
        "verdicts": [[v.guardrail, v.outcome.value, v.reason] for v in report.verdicts],
    }
    trained = trained_objective(controller.config.policy)
    if trained is not None:
        status["trained_for"] = str(trained)
    if idle:
        status["idle"] = list(idle)
    if controller.mode is not Mode.SHADOW and controller.plan and controller.snapshot:
        status["advice"] = _advice(controller.plan, controller.snapshot)
    return status


def _advice(plan: CyclePlan, snapshot: Snapshot) -> list[list[str]]:
    decision = plan.decision
    return [
        [snapshot.by_id[job].label, decision.reasons.get(job, "")] for job in decision.order[:HEAD]
    ]
