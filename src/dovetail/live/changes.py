"""From a decision to what must be sent: only what differs from what Slurm has.

changes = changes_for(decision, snapshot, own, config)
undo = changes_back(touched, snapshot)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dovetail.domain.decision import Change, Decision, Knob
from dovetail.domain.snapshot import LiveJob, Snapshot
from dovetail.live.assigning import assign
from dovetail.live.config import ActConfig

FIRST = "dovetail:first="
"""Tag in the admin comment: the factor that job_submit.lua gave a new job."""

KNOBS = {"sitefactor": Knob.SITE_FACTOR, "priority": Knob.PRIORITY}


@dataclass(frozen=True, slots=True)
class Own:
    """What we have set: site factors, frozen priorities with what Slurm gave, pinned nodes."""

    site: Mapping[int, int]
    frozen: Mapping[int, int]  # job -> Slurm's own priority when it was frozen
    nodes: Mapping[int, str]
    priorities: Mapping[int, int] = field(default_factory=dict)  # job -> what it was frozen at

    def factors(self, snapshot: Snapshot) -> dict[int, int]:
        """Site factors by job that are ours: set by us, inherited from an array, or given first."""
        found = {}
        for number, factor in snapshot.factors.items():
            job = snapshot.by_id.get(number) if factor.site else None
            if job is None:
                continue
            if number in self.site:
                found[number] = self.site[number]
            elif job.array in self.site:
                found[number] = self.site[job.array]
            elif FIRST in job.comment:
                found[number] = first_factor(job.comment)
        return found

    def given(self, snapshot: Snapshot) -> dict[int, int]:
        """What Slurm itself gave jobs that we froze; a task has it from its array."""
        found = {}
        for job in snapshot.pending if self.frozen else ():
            factor = snapshot.factors.get(job.id)
            number = job.id if job.id in self.frozen else job.array
            if factor is not None and factor.frozen and number in self.frozen:
                found[job.id] = self.frozen[number]
        return found


NOTHING = Own({}, {}, {})


def first_factor(comment: str) -> int:
    """The factor that job_submit.lua says it gave; 0 where it says nothing readable."""
    for word in comment.split():
        text = word.removeprefix(FIRST)
        if text != word and text.lstrip("-").isdecimal():
            return int(text)
    return 0


def changes_for(
    decision: Decision,
    snapshot: Snapshot,
    own: Own,
    config: ActConfig,
    priorities: Mapping[int, int],
) -> tuple[Change, ...]:
    """What brings the queue into the decided order, and nodes that jobs are pinned to.

    priorities: what Slurm alone would give each job.
    """
    knob, factors = KNOBS[config.knob], snapshot.factors
    order = decision.order
    now = {job: factors[job].priority for job in order}
    ours = now.keys() | decision.beyond
    others = [factor.priority for job, factor in factors.items() if job not in ours]
    floor = max(map(priorities.__getitem__, decision.beyond), default=0)
    wanted = assign(order, priorities, now, others, config.horizon, floor)
    # Jobs that were at the head once and are far back now get their own priority again.
    for job in own.factors(snapshot).keys() & decision.beyond:
        now[job], wanted[job] = factors[job].priority, priorities[job]
    changes = [
        _change(snapshot.by_id[job], knob, snapshot, wanted[job], priorities[job], decision)
        for job, has in now.items()
        if wanted[job] != has
    ]
    return (*changes, *_pins(decision, snapshot, own))


def _change(
    job: LiveJob, knob: Knob, snapshot: Snapshot, wanted: int, given: int, decision: Decision
) -> Change:
    # An array goes by its label, which names the tasks that wait together: its number alone would
    # reach tasks that run or that an operator has set apart, too.
    reason = decision.reasons.get(job.id, "makes room for the jobs that go first")
    if knob is Knob.PRIORITY:
        return Change(job.id, job.label, knob, str(given), str(wanted), reason)
    # What job_submit.lua gave is ours, too: without us it would have been none.
    before = 0 if first_factor(job.comment) else snapshot.site_of(job.id)
    return Change(job.id, job.label, knob, str(before), str(wanted - given), reason)


def _pins(decision: Decision, snapshot: Snapshot, own: Own) -> list[Change]:
    """Nodes for jobs that start now; a job that is pinned and still waits is let go."""
    changes = []
    for job in decision.order if own.nodes or decision.hints else ():
        had, hint = own.nodes.get(job, ""), decision.hints.get(job)
        wish = hint.node if hint is not None else ""
        if wish != had:
            reason = f"it fits on {wish} now" if wish else "it did not start where it was sent"
            changes.append(Change(job, snapshot.by_id[job].label, Knob.NODE, had, wish, reason))
    return changes
