"""The daemon's heart: observe, decide, guard, act, record; whatever goes wrong, do nothing.

Slurm goes on by itself whatever happens here.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from dovetail.domain.errors import ClusterError, ConfigError, DovetailError
from dovetail.domain.estimates import LIMIT
from dovetail.live.backends.base import Backend, BackendError
from dovetail.live.config import LiveConfig
from dovetail.live.cycle.actuator import Actuator, Clocks
from dovetail.live.cycle.decider import Decider
from dovetail.live.cycle.estimates import JournalPredictor
from dovetail.live.cycle.plan import CyclePlan, Decides, make_plan
from dovetail.live.cycle.policy import beside_slurm, goes_by_slurm, load_policy, model_trained
from dovetail.live.cycle.queue_window import Estimate, told_by_limit
from dovetail.live.cycle.report import CycleReport, Waits
from dovetail.live.cycle.round import CycleRound, TwinComparison, cycle_of, glimpse_of, report_of
from dovetail.live.cycle.sentence import sentence_of
from dovetail.live.cycle.trouble import Streak, cause_of, refused, unbelievable
from dovetail.live.guardrails.base import Glimpse, GuardrailOutcome, Situation
from dovetail.live.journal import Journal, JournalError, Outcomes
from dovetail.live.journal.records import GONE, NOTHING_HAPPENED
from dovetail.live.ledger import Ledger
from dovetail.live.ledger.unmarked import UnmarkedFactors
from dovetail.live.model.mode import Mode
from dovetail.live.model.snapshot import Snapshot
from dovetail.policies.policy import Policy
from dovetail.prediction.estimates import limit_power
from dovetail.prediction.knowledge import is_predicted
from dovetail.telemetry.monitor import NodeReading

HOUR = 3600.0
REFRESH = 900.0
"""Seconds after which the journal is asked again how long jobs waited and ran."""


class LiveController:
    """State between cycles: the mode, what we have set, and what was seen last."""

    def __init__(
        self,
        config: LiveConfig,
        backend: Backend,
        journal: Journal,
        decider: Decides | None = None,
        clocks: Clocks | None = None,
        stopped: Callable[[], bool] = lambda: False,
        readings: Callable[[], Mapping[str, NodeReading]] = dict,
        unmarked: UnmarkedFactors | None = None,
    ) -> None:
        """`stopped` is the kill switch, asked once more before anything is sent; `readings` is
        what telemetry says of the nodes; `unmarked` is where the journal's loss can be made good.
        """
        self.stopped, self._readings = stopped, readings
        self.config, self.backend, self.journal = config, backend, journal
        self.clocks = clocks or Clocks()
        self.ledger = Ledger(journal)
        self.actuator = Actuator(backend, self.ledger, self.clocks, unmarked)
        self.mode = Mode.SHADOW
        self.comparison = TwinComparison()
        self.last_good = self.clocks.steady()
        self.round = CycleRound(self.last_good)  # the last cycle, for those who ask
        self._decider = decider
        self._ages = False  # whether what it was made from changes with time
        self._outcomes = Outcomes.resume(journal.past)
        self._before: Glimpse | None = None
        self._seen: frozenset[int] = frozenset()  # jobs of the last reading that was believed
        self._seen_at = -math.inf  # when that was
        self._unread, self._refused = Streak(), Streak()
        self._sent = self._sent_before()
        self._active_since = self.clocks.steady()
        self._waits: Mapping[str, Waits] = {}
        self._waits_asked = -math.inf

    def _sent_before(self) -> deque[tuple[float, int]]:
        """(steady, how many) of changes in the last hour, those of a daemon before us included."""
        wall, steady = self.clocks.wall(), self.clocks.steady()
        past = self.journal.past.sent(wall - HOUR)
        return deque((steady - max(0.0, wall - when), count) for when, count in past)

    def cycle(self) -> CycleReport:
        """One round in six steps; what went wrong is in its report and its sentence."""
        with suppress(Exception):  # said below, where it is needed
            self.decider()  # before the queue is read, which would grow old meanwhile
        self.round = this = CycleRound(self.clocks.steady())
        was = self.mode
        try:
            sentence = self._steps(this)
            self._record(this, sentence)  # 6. Record: what was seen, decided, said and done.
        except JournalError as error:
            sentence = f"the journal cannot be written, nothing done: {error}"
            if self.mode is Mode.ACTIVE:
                # Nothing stays set that only a journal could undo. The queue is read afresh: what
                # was read before may be older than what this cycle has sent.
                sentence = self.leave(f"the journal cannot be written: {error}")
        report = report_of(
            this,
            self.mode,
            sentence,
            self.clocks.steady(),
            self.last_good,
            self._waits,
            self.comparison,
        )
        fell_back = was is Mode.ACTIVE and self.mode is not Mode.ACTIVE
        return replace(report, fell_back=fell_back, budget_spent=self._budget_spent())

    def _budget_spent(self) -> float:
        since = self.clocks.steady() - HOUR
        sent = sum(count for steady, count in self._sent if steady >= since)
        return sent / self.config.guardrails.changes_per_hour

    def _steps(self, this: CycleRound) -> str:
        """Observe, decide, guard, assign and act; what came of it, in a sentence."""
        # 1. Observe: everything that Slurm says, and what of it is ours.
        try:
            snapshot = replace(self.backend.read(), readings=self._readings())
            this.snapshot = snapshot
        except BackendError as error:
            return self._unreadable(this, str(error))
        doubt = unbelievable(self._seen, self._seen_at, snapshot, self.config.guardrails)
        if doubt and self._unread.length < self.config.guardrails.failures:
            this.snapshot = None  # no evidence of anything, not for the record either
            return self._unreadable(this, doubt)
        self._unread.note(False)
        self._seen = snapshot.pending_ids.union(job.id for job in snapshot.running)
        self._seen_at = snapshot.time
        self.last_good = self.clocks.steady()
        this.read = self.last_good - this.began
        self.ledger.look(snapshot)
        this.trouble = self._unknown_factors(snapshot)
        # 2. decide, 3. guard, 4. assign: see `make_plan`. Pure, and so free to fail.
        try:
            situation = self._situation(snapshot, this.read)
            this.plan = make_plan(self.decider(), situation, self.ledger.view, self.config)
        except JournalError:
            raise
        except ClusterError as nothing:
            return f"{self.mode.value}: {nothing}"
        except Exception as error:  # a policy may fail in any way: Slurm goes on without it
            return f"{self.mode.value}: nothing decided: {_words(error)}"
        # 5. Act, as far as mode, guardrails and kill switch allow.
        sentence = self._act(this, snapshot, this.plan)
        self._before = glimpse_of(snapshot, self.clocks.steady(), this.plan)
        return sentence

    def _unknown_factors(self, snapshot: Snapshot) -> str:
        """Factors that look like ours and are in no journal, in words; empty: there are none."""
        table, by_id = snapshot.factor_columns, snapshot.by_id
        ours = self.ledger.view.factors(snapshot).keys()
        suspects = set(table.ids[table.site != 0].tolist()) - ours
        unknown = sum(
            self.actuator.is_ours(by_id[job], snapshot.site_of(job))
            for job in suspects & by_id.keys()
        )
        if not unknown:
            return ""
        return (
            f"{unknown:,} jobs have a site factor that follows Dovetail's pattern and is in no "
            "journal: `dovetail live restore --ours` resets them"
        )

    def _unreadable(self, this: CycleRound, why: str) -> str:
        """Nothing is known and nothing done; if it lasts, jobs are given back."""
        this.trouble = why
        cycles = self._unread.note(True)
        if self.mode is Mode.ACTIVE and cycles >= self.config.guardrails.failures:
            return self.leave(f"Slurm cannot be read for {cycles} cycles: {why}")
        return f"Slurm cannot be read, nothing done: {why}"

    def _act(self, this: CycleRound, snapshot: Snapshot, plan: CyclePlan) -> str:
        if self.mode is not Mode.ACTIVE:
            return sentence_of(self.mode, snapshot, plan, trouble=this.trouble)
        if plan.outcome is GuardrailOutcome.FALL_BACK:
            return self.leave(plan.objections[0].reason, snapshot)
        if not plan.may_act or self.stopped():
            return sentence_of(self.mode, snapshot, plan, trouble=this.trouble)
        if plan.changes:
            began = self.clocks.steady()
            self._sent.append((began, len(plan.changes)))
            this.results = self.actuator.send(plan.changes)
            this.act = self.clocks.steady() - began
            this.trouble = cause_of(this.results) or this.trouble
            cycles = self._refused.note(refused(this.results))
            if cycles >= self.config.guardrails.failures:
                return self.leave(f"changes failed in {cycles} cycles in a row: {this.trouble}")
        return sentence_of(self.mode, snapshot, plan, this.results, this.trouble)

    def _record(self, this: CycleRound, sentence: str) -> None:
        """Write the cycle down; JournalError where that cannot be."""
        wall, steady = self.clocks.wall(), self.clocks.steady()
        happened = NOTHING_HAPPENED
        if this.snapshot is not None:
            happened = self._outcomes.update(this.snapshot)
        decision = this.plan.decision if this.plan else None
        if decision is not None:
            self._outcomes.decided(self.mode, decision.order)
        verdicts = this.plan.verdicts if this.plan else ()
        cycle = cycle_of(this, self.mode, sentence, wall, steady)
        self.journal.record(cycle, this.snapshot, decision, verdicts, happened)
        ended = [end.job for end in happened.ended if end.left and end.state != GONE]
        self.ledger.let_go(ended, wall, "the job has ended")
        lost = [end.job for end in happened.ended if end.state == GONE]
        if lost and self.mode is Mode.ACTIVE and this.snapshot and not self.stopped():
            self._ask_after(lost, this.snapshot)

    def _ask_after(self, jobs: Sequence[int], snapshot: Snapshot) -> None:
        """Jobs that Slurm no longer shows: given back, should they be there all the same."""
        try:
            self.actuator.put_back_some(frozenset(jobs), snapshot)
        except BackendError as error:  # then they stay in the ledger
            self.round.trouble = self.round.trouble or str(error)

    def decider(self) -> Decides:
        """The policy: loaded when it is first needed, and again after it could not be."""
        if self._decider is None:
            name = self.config.policy
            try:
                policy, act = load_policy(name), self.config.act
                fitted = beside_slurm(policy, act, self.backend.settings)
                self._decider = Decider(fitted, act, self._estimate(policy))
                self._ages = is_predicted(self.config.estimates) or goes_by_slurm(policy)
            except Exception as error:  # a damaged file can fail in any way
                raise ConfigError(
                    f"policy {name} cannot be loaded: {_words(error)}; mend it (it is tried again "
                    "in every cycle), or name another and send SIGHUP"
                ) from error
        return self._decider

    def _estimate(self, policy: Policy) -> Estimate:
        """Run times predicted from what the journal saw, where that is wanted; else limits."""
        power = limit_power(policy.told(LIMIT))
        if not is_predicted(self.config.estimates):
            return partial(told_by_limit, power=power)
        past = self.journal.past
        ended = past.ended(past.last_wall() - self.config.twin.days * 24 * HOUR)
        return JournalPredictor(ended, policy.told(self.config.estimates), power)

    def take(self, config: LiveConfig) -> None:
        """Go on with another configuration; its policy is loaded anew."""
        self.config, self._decider = config, None

    def _situation(self, snapshot: Snapshot, read: float) -> Situation:
        steady = self.clocks.steady()
        while self._sent and self._sent[0][0] < steady - HOUR:
            self._sent.popleft()
        if steady - self._waits_asked >= REFRESH:
            self._waits, self._waits_asked = self._recent_waits(), steady
            if self._ages:
                self._decider = None  # made anew with what has ended, or been set, since
        own = self.ledger.view
        return Situation(
            snapshot=snapshot,
            steady=steady,
            before=self._before,
            own={**own.priorities(), **own.factors(snapshot)},
            read_seconds=read,
            slurm_priority=own.given(snapshot),
            waits={name: waits.p95 for name, waits in self._waits.items()},
            model_trained=model_trained(self.config.policy),
            sent=tuple(self._sent),
            actual_wait=self.comparison.actual_wait,
            slurm_wait=self.comparison.slurm_wait,
            wanted=self.comparison.wanted,
            active_hours=self.active_hours,
            compared_jobs=self.comparison.jobs,
            promises=self.comparison.promises,
        )

    def _recent_waits(self) -> dict[str, Waits]:
        past, days = self.journal.past, self.config.twin.days
        middle = past.waits(days, 0.5)
        return {name: Waits(middle[name], p95) for name, p95 in past.waits(days).items()}

    # -- modes

    @property
    def plan(self) -> CyclePlan | None:
        """Of the last cycle."""
        return self.round.plan

    @property
    def snapshot(self) -> Snapshot | None:
        """Of the last cycle."""
        return self.round.snapshot

    @property
    def active_hours(self) -> float:
        """Hours in active mode without a break; 0: in another."""
        passed = self.clocks.steady() - self._active_since
        return passed / HOUR if self.mode is Mode.ACTIVE else 0.0

    @property
    def owes(self) -> bool:
        """Whether jobs may still have what we gave them, though we are not active."""
        return self.mode is not Mode.ACTIVE and self.actuator.owes

    def enter(self, mode: Mode, why: str) -> str:
        """Change the mode; leaving active puts jobs back. What happened, in words; "": nothing."""
        if mode is self.mode:
            return ""
        said = f"{mode.value} mode from now on: {why}"
        if self.mode is Mode.ACTIVE:
            said = f"{self.leave(why)}; {said}"
        self.mode = mode
        self._refused.note(False)
        self._active_since = self.clocks.steady()
        # What the twin is wrong by stays true; what it said of the last stretch does not.
        self.comparison = TwinComparison(bias=self.comparison.bias)
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
            return str(self.actuator.put_back(snapshot or self.backend.read()))
        except BackendError as error:
            return f"jobs are NOT put back yet, Slurm cannot be reached: {error}"

    def _note(self, why: str) -> None:
        with suppress(JournalError):  # the next cycle says that the journal cannot be written
            self.journal.switched(self.mode, "dovetail", why, self.clocks.wall())


def _words(error: Exception) -> str:
    """Our own errors speak for themselves; of others people need the kind, too."""
    return str(error) if isinstance(error, DovetailError) else f"{type(error).__name__}: {error}"
