"""What a cycle did, in one sentence for people."""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.live.cycle.plan import CyclePlan
from dovetail.live.guardrails.base import GuardrailOutcome
from dovetail.live.model.decision import Result
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import Snapshot


def sentence_of(
    mode: Mode,
    snapshot: Snapshot,
    plan: CyclePlan,
    results: Sequence[Result] | None = None,
    trouble: str = "",
) -> str:
    """Such as `active: 40 wait, 12 run; saf ordered 38 (2 left alone); 7 changes sent`."""
    decision = plan.decision
    said = [
        f"{mode.value}: {len(snapshot.pending)} wait, {len(snapshot.running)} run",
        f"{decision.policy} ordered {_count(len(decision.order), 'job')}"
        + (f", {len(decision.untouched)} left alone" if decision.untouched else ""),
        _done(mode, plan, results),
    ]
    if trouble:
        said.append(trouble)
    if plan.outcome is not GuardrailOutcome.PASS:
        said += [f"{verdict.guardrail}: {verdict.reason}" for verdict in plan.objections]
    return "; ".join(said)


def _done(mode: Mode, plan: CyclePlan, results: Sequence[Result] | None) -> str:
    if results is not None:
        failed = sum(not result.done for result in results)
        return f"{_count(len(results), 'change')} sent" + (f", {failed} failed" if failed else "")
    if not plan.changes:
        return "nothing to change"
    would = f"{_count(len(plan.changes), 'change')} would bring it about"
    return would if mode is not Mode.ACTIVE else "nothing sent"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
