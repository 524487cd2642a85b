"""The daemon's heart: observe, decide, guard, act, record; whatever goes wrong, do nothing.

    controller = Controller(config, backend, journal)
    report = controller.cycle()            # never raises for what Slurm, a policy or a disk does
    controller.leave("told to stop")       # out of active mode: every touched job is put back

Slurm goes on by itself whatever happens here.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from dovetail.domain.decision import Result
from dovetail.domain.errors import ClusterError, ConfigError, DovetailError
from dovetail.domain.snapshot import Snapshot
from dovetail.evaluation.policy import Policy
from dovetail.live.acting import Clocks, Hand
from dovetail.live.backends.base import Backend, BackendError
from dovetail.live.config import LiveConfig
from dovetail.live.deciding import Decider, model_trained
from dovetail.live.guardrails.base import Glimpse, Outcome, Situation
from dovetail.live.journal import Cycle, Journal, JournalError, Outcomes
from dovetail.live.journal.records import NOTHING_HAPPENED
from dovetail.live.journal.shape import digest_of
from dovetail.live.modes import Mode
from dovetail.live.planning import Decides, Plan, make_plan
from dovetail.live.report_cycle import CycleReport, Times, Waits, classes, loads
from dovetail.live.wording import sentence_of

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the twin says of the time in active mode; NaN: nothing yet."""

    actual_wait: float = math.nan
    slurm_wait: float = math.nan
    jobs: int = 0
    difference: float = math.nan  # mean wait under our order / under Slurm's − 1, by the twin
    error: float = math.nan  # the twin's mean wait / the real one − 1


class Controller:
    """State between cycles: the mode, what we have set, and what was seen last."""

    def __init__(
        self,
        config: LiveConfig,
        backend: Backend,
        journal: Journal,
        decider: Decides | None = None,
        clocks: Clocks | None = None,
    ) -> None:
        self.config, self.backend, self.journal = config, backend, journal
        self.clocks = clocks or Clocks()
        self.hand = Hand(backend, journal, self.clocks)
        self.mode = Mode.SHADOW
        self.comparison = Comparison()
        self.last_good = self.clocks.steady()
        self.plan: Plan | None = None  # of the last cycle, for those who ask
        self.snapshot: Snapshot | None = None
        self._decider = decider
        self._outcomes = Outcomes.resume(journal.past)
        self._before: Glimpse | None = None
        self._sent: deque[tuple[float, int]] = deque()
        self._active_since = self.clocks.steady()
        self._waits: Mapping[str, Waits] = {}
        self._waits_asked = -HOUR
        self._act_seconds = 0.0

    def cycle(self) -> CycleReport:
        """One round; what went wrong is in its report and its sentence."""
        self.plan, self.snapshot, self._act_seconds = None, None, 0.0
        with suppress(Exception):  # said below, where it is needed
            self.decider()  # before the queue is read, which would grow old meanwhile
        began = self.clocks.steady()
        try:
            return self._observed(began)
        except JournalError as error:
            said = f"the journal cannot be written, nothing done: {error}"
            if self.mode is Mode.ACTIVE:
                # Nothing stays set that only a journal could undo. The queue is read afresh: what
                # was read before may be older than what this cycle has sent.
                said = self.leave(f"the journal cannot be written: {error}")
            return self._report(said, began, self.snapshot)

    def _observed(self, began: float) -> CycleReport:
        try:
            snapshot = self.backend.read()
        except BackendError as error:
            self._before = None
            return self._record(f"Slurm cannot be read, nothing done: {error}", began)
        self.last_good = self.clocks.steady()
        self.snapshot = snapshot
        return self._round(snapshot, began)

    def _round(self, snapshot: Snapshot, began: float) -> CycleReport:
        read = self.clocks.steady() - began
        self.hand.look(snapshot)
        try:
            plan = make_plan(
                self.decider(), self._situation(snapshot, read), self.hand.own.now(), self.config
            )
        except JournalError:
            raise
        except ClusterError as nothing:
            return self._record(f"{self.mode.value}: {nothing}", began, snapshot)
        except Exception as error:  # a policy may fail in any way: Slurm goes on without it
            return self._record(
                f"{self.mode.value}: nothing decided: {_words(error)}", began, snapshot
            )
        self.plan = plan
        results: tuple[Result, ...] | None = None
        if self.mode is Mode.ACTIVE and plan.outcome is Outcome.FALL_BACK:
            sentence = self.leave(plan.objections[0].reason, snapshot)
        else:
            if self.mode is Mode.ACTIVE and plan.may_act:
                results = self._act(plan)
            sentence = sentence_of(self.mode, snapshot, plan, results)
        self._before = _glimpse(snapshot, self.clocks.steady(), plan)
        return self._record(sentence, began, snapshot, plan, results or (), read)

    def _act(self, plan: Plan) -> tuple[Result, ...]:
        if not plan.changes:
            return ()
        began = self.clocks.steady()
        self._sent.append((began, len(plan.changes)))
        results = self.hand.send(plan.changes)
        self._act_seconds = self.clocks.steady() - began
        return results

    def decider(self) -> Decides:
        """The policy: loaded when it is first needed, and again after it could not be."""
        if self._decider is None:
            name = self.config.policy
            try:
                self._decider = Decider(Policy.parse(name), self.config.act)
            except Exception as error:  # a damaged file can fail in any way
                raise ConfigError(
                    f"policy {name} cannot be loaded: {_words(error)}; mend it (it is tried again "
                    "in every cycle), or name another and send SIGHUP"
                ) from error
        return self._decider

    def take(self, config: LiveConfig) -> None:
        """Go on with another configuration; its policy is loaded anew."""
        self.config, self._decider = config, None

    def _situation(self, snapshot: Snapshot, read: float) -> Situation:
        steady = self.clocks.steady()
        while self._sent and self._sent[0][0] < steady - HOUR:
            self._sent.popleft()
        if steady - self._waits_asked >= HOUR:
            self._waits, self._waits_asked = self._recent_waits(), steady
        own = self.hand.own.now()
        return Situation(
            snapshot=snapshot,
            steady=steady,
            before=self._before,
            own={**own.priorities, **own.factors(snapshot)},
            read_seconds=read,
            slurm_priority=own.given(snapshot),
            waits={name: waits.p95 for name, waits in self._waits.items()},
            model_trained=model_trained(self.config.policy),
            sent=tuple(self._sent),
            actual_wait=self.comparison.actual_wait,
            slurm_wait=self.comparison.slurm_wait,
            active_hours=self.active_hours,
            compared_jobs=self.comparison.jobs,
        )

    def _recent_waits(self) -> dict[str, Waits]:
        past, days = self.journal.past, self.config.twin.days
        middle = past.waits(days, 0.5)
        return {name: Waits(middle[name], p95) for name, p95 in past.waits(days).items()}

    # -- modes

    @property
    def active_hours(self) -> float:
        """Hours in active mode without a break; 0: in another."""
        passed = self.clocks.steady() - self._active_since
        return passed / HOUR if self.mode is Mode.ACTIVE else 0.0

    @property
    def owes(self) -> bool:
        """Whether jobs may still have what we gave them, though we are not active."""
        return self.mode is not Mode.ACTIVE and self.hand.owes

    def enter(self, mode: Mode, why: str) -> str:
        """Change the mode; leaving active puts jobs back. What happened, in words; "": nothing."""
        if mode is self.mode:
            return ""
        said = f"{mode.value} mode from now on: {why}"
        if self.mode is Mode.ACTIVE:
            said = f"{self.leave(why)}; {said}"
        self.mode = mode
        self._active_since = self.clocks.steady()
        self.comparison = Comparison()
        self._note(why)
        return said

    def leave(self, why: str, snapshot: Snapshot | None = None) -> str:
        """Go to shadow mode and put every touched job back; in words what became of them."""
        self.mode = Mode.SHADOW
        self._note(why)
        return f"left active mode ({why}): {self.settle(snapshot)}"

    def settle(self, snapshot: Snapshot | None = None) -> str:
        """Put back what is still touched; in words what became of it."""
        try:
            return str(self.hand.put_back(snapshot or self.backend.read()))
        except BackendError as error:
            return f"jobs are NOT put back yet, Slurm cannot be reached: {error}"

    def _note(self, why: str) -> None:
        with suppress(JournalError):  # the next cycle says that the journal cannot be written
            self.journal.switched(self.mode, "dovetail", why, self.clocks.wall())

    # -- recording

    def _record(
        self,
        sentence: str,
        began: float,
        snapshot: Snapshot | None = None,
        plan: Plan | None = None,
        results: Sequence[Result] = (),
        read: float = 0.0,
    ) -> CycleReport:
        """Write the cycle down; JournalError where that cannot be."""
        report = self._report(sentence, began, snapshot, plan, results, read)
        cycle = Cycle(
            wall=self.clocks.wall(),
            steady=self.clocks.steady(),
            mode=self.mode,
            sentence=sentence,
            policy=plan.decision.policy if plan else "",
            model=plan.decision.model if plan else "",
            snapshot=digest_of(snapshot) if snapshot else "",
            pending=len(snapshot.pending) if snapshot else 0,
            running=len(snapshot.running) if snapshot else 0,
            sent=report.sent,
            failed=report.failed,
            read_seconds=read,
            decide_seconds=plan.decision.seconds if plan else 0.0,
            act_seconds=self._act_seconds,
        )
        happened = self._outcomes.update(snapshot) if snapshot else NOTHING_HAPPENED
        if plan is not None:
            self._outcomes.decided(self.mode, plan.decision.order)
        self.journal.record(
            cycle,
            snapshot,
            plan.decision if plan else None,
            plan.verdicts if plan else (),
            happened,
        )
        return report

    def _report(
        self,
        sentence: str,
        began: float,
        snapshot: Snapshot | None = None,
        plan: Plan | None = None,
        results: Sequence[Result] = (),
        read: float = math.nan,
    ) -> CycleReport:
        steady = self.clocks.steady()
        report = CycleReport(
            mode=self.mode,
            sentence=sentence,
            times=Times(read=read, total=steady - began),
            snapshot_age=steady - self.last_good,
            partitions=loads(snapshot, self._waits) if snapshot else {},
            sent=len(results),
            failed=sum(not result.done for result in results),
            twin_difference=self.comparison.difference,
            twin_error=self.comparison.error,
        )
        if plan is None or snapshot is None:
            return report
        decide = plan.decision.seconds
        return replace(
            report,
            times=report.times._replace(
                decide=decide, guard=plan.guard_seconds, act=self._act_seconds
            ),
            managed=len(plan.decision.order),
            untouched=classes(plan.decision.untouched.values()),
            moved=plan.moved,
            verdicts=plan.verdicts,
        )


def _glimpse(snapshot: Snapshot, steady: float, plan: Plan) -> Glimpse:
    return Glimpse(
        wall=snapshot.time,
        steady=steady,
        pending=frozenset(job.id for job in snapshot.pending),
        running=frozenset(job.id for job in snapshot.running),
        nodes=frozenset(node.name for node in snapshot.nodes if node.usable),
        order=plan.decision.order,
    )


def _words(error: Exception) -> str:
    """Our own errors speak for themselves; of others people need the kind, too."""
    return str(error) if isinstance(error, DovetailError) else f"{type(error).__name__}: {error}"
