"""One round of the daemon, as the journal keeps it and as it is reported. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dovetail.live.cycle.plan import CyclePlan
from dovetail.live.cycle.report import CycleReport, Times, Waits, classes, loads
from dovetail.live.guardrails.base import Glimpse, PromiseState
from dovetail.live.journal import CycleRecord
from dovetail.live.journal.shape import digest_of
from dovetail.live.model.decision import Result
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import Snapshot


@dataclass(slots=True)
class CycleRound:
    """What a cycle came to, filled in as it goes on."""

    began: float  # steady
    snapshot: Snapshot | None = None
    plan: CyclePlan | None = None
    results: tuple[Result, ...] = ()
    read: float = math.nan  # seconds
    act: float = 0.0
    trouble: str = ""  # what went wrong, in words

    @property
    def failed(self) -> int:
        return sum(not result.done for result in self.results)


@dataclass(frozen=True, slots=True)
class TwinComparison:
    """What the twin said last; NaN: nothing yet."""

    actual_wait: float = math.nan  # of jobs that started in active mode, seconds
    slurm_wait: float = math.nan  # of the same jobs under Slurm alone, by the twin
    jobs: int = 0
    wanted: float = math.nan  # what the objective weighs, as it was over Slurm alone by the twin
    bias: float = 1.0  # real waits / the twin's, under Slurm alone, as shadow mode has shown
    difference: float = math.nan  # mean wait under our order / under Slurm's − 1, by the twin
    error: float = math.nan  # the twin's mean wait / the real one − 1
    drift: float = math.nan  # how far recent jobs are from those that the model learned from
    promises: PromiseState | None = None  # in active mode, with promises
    promises_since: float = math.nan  # steady: when promises began to be broken


def cycle_of(
    this: CycleRound, mode: Mode, sentence: str, wall: float, steady: float
) -> CycleRecord:
    """The row of the journal."""
    snapshot, decision = this.snapshot, this.plan.decision if this.plan else None
    return CycleRecord(
        wall=wall,
        steady=steady,
        mode=mode,
        sentence=sentence,
        policy=decision.policy if decision else "",
        model=decision.model if decision else "",
        snapshot=digest_of(snapshot) if snapshot else "",
        pending=len(snapshot.pending) if snapshot else 0,
        running=len(snapshot.running) if snapshot else 0,
        sent=len(this.results),
        failed=this.failed,
        read_seconds=0.0 if math.isnan(this.read) else this.read,
        decide_seconds=decision.seconds if decision else 0.0,
        act_seconds=this.act,
    )


def report_of(
    this: CycleRound,
    mode: Mode,
    sentence: str,
    steady: float,
    last_good: float,
    waits: Mapping[str, Waits],
    comparison: TwinComparison,
) -> CycleReport:
    """What those who watch are told."""
    report = CycleReport(
        mode=mode,
        sentence=sentence,
        times=Times(read=this.read, total=steady - this.began),
        snapshot_age=steady - last_good,
        partitions=loads(this.snapshot, waits) if this.snapshot else {},
        sent=len(this.results),
        failed=this.failed,
        trouble=this.trouble,
        twin_difference=comparison.difference,
        twin_error=comparison.error,
        model_drift=comparison.drift,
    )
    if this.plan is None:
        return report
    decision = this.plan.decision
    return replace(
        report,
        times=report.times._replace(
            decide=decision.seconds, guard=this.plan.guard_seconds, act=this.act
        ),
        managed=len(decision.order),
        untouched=classes(decision.untouched.values()),
        unexpressed=decision.unexpressed,
        moved=this.plan.moved,
        verdicts=this.plan.verdicts,
    )


def glimpse_of(snapshot: Snapshot, steady: float, plan: CyclePlan) -> Glimpse:
    """What the next cycle's guardrails compare with."""
    return Glimpse(
        wall=snapshot.time,
        steady=steady,
        pending=snapshot.pending_ids,
        running=frozenset(job.id for job in snapshot.running),
        nodes=frozenset(node.name for node in snapshot.usable_nodes),
        order=plan.decision.order,
    )
