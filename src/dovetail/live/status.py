"""What `dovetail live status` shows: the last cycle, and the head of the order with reasons."""

from __future__ import annotations

import os
from typing import Any

from dovetail.domain.snapshot import Snapshot
from dovetail.live.controller import Controller
from dovetail.live.modes import Mode
from dovetail.live.planning import Plan
from dovetail.live.report_cycle import CycleReport

HEAD = 20
"""Jobs at the head of the order that are shown."""


def status_of(report: CycleReport, controller: Controller) -> dict[str, Any]:
    """Plain values for a JSON file; the order only where it is to be shown."""
    status: dict[str, Any] = {
        "pid": os.getpid(),
        "wall": controller.clocks.wall(),
        "mode": controller.mode.value,
        "policy": controller.config.policy,
        "sentence": report.sentence,
        "seconds": report.times.total,
        "verdicts": [[v.guardrail, v.outcome.value, v.reason] for v in report.verdicts],
    }
    if controller.mode is not Mode.SHADOW and controller.plan and controller.snapshot:
        status["advice"] = _advice(controller.plan, controller.snapshot)
    return status


def _advice(plan: Plan, snapshot: Snapshot) -> list[list[str]]:
    decision = plan.decision
    return [
        [snapshot.by_id[job].label, decision.reasons.get(job, "")] for job in decision.order[:HEAD]
    ]
