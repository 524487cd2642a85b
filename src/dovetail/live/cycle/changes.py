"""From a decision to what must be sent: only what differs from what Slurm has.

>>> from dovetail.live.backends.recorded import MemoryCluster
>>> cluster = MemoryCluster.of_nodes(1, gpus=4)
>>> first, second = cluster.submit(priority=900), cluster.submit(priority=100)
>>> snapshot = cluster.snapshot()
>>> decision = Decision(order=(second, first))
>>> priorities = snapshot.own_priorities
>>> for change in changes_for(decision, snapshot, LedgerView(), ActConfig(), priorities):
...     print(change.label, change.knob.value, change.after)
2 site factor 1787
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import cache
from operator import itemgetter

from dovetail.live.config import ActConfig
from dovetail.live.cycle.assignment import assign
from dovetail.live.ledger import LedgerView
from dovetail.live.ledger.restore import set_since
from dovetail.live.model.decision import Change, Decision, Hint, Knob
from dovetail.live.model.first_factor import first_factor
from dovetail.live.model.snapshot import LiveJob, Snapshot

_PARTITIONS = itemgetter(LiveJob._fields.index("partitions"))

KNOBS = {"sitefactor": Knob.SITE_FACTOR, "priority": Knob.PRIORITY}


def changes_for(
    decision: Decision,
    snapshot: Snapshot,
    own: LedgerView,
    config: ActConfig,
    priorities: Mapping[int, int],
) -> tuple[Change, ...]:
    """What brings the queue into the decided order, and where jobs are sent.

    priorities: what Slurm alone would give each job.
    """
    knob, has_now = KNOBS[config.knob], snapshot.priorities
    order = decision.order
    now = {job: has_now[job] for job in order}
    others = [has_now[job] for job in competitors(snapshot, now.keys() | decision.beyond)]
    floor = max(map(priorities.__getitem__, decision.beyond), default=0)
    base = priorities if knob is Knob.SITE_FACTOR else {}
    wanted = assign(order, priorities, now, others, config.horizon, floor, base)
    # Jobs that were at the head once and are far back now get their own priority again.
    for job in own.factors(snapshot).keys() & decision.beyond:
        now[job], wanted[job] = has_now[job], priorities[job]
    changes = [
        _change(snapshot.by_id[job], knob, snapshot, wanted[job], priorities[job], decision)
        for job, has in now.items()
        if wanted[job] != has
    ]
    return (*changes, *_hints(decision, snapshot, own))


def competitors(snapshot: Snapshot, ours: Set[int]) -> list[int]:
    """Waiting jobs that are not ours to move, and could run on nodes that ours could run on.

    A job that shares no node with them cannot be passed by them, wherever it stands.
    """
    strangers = snapshot.factors.keys() - ours
    if not strangers:
        return []
    nodes = {part.name: frozenset(part.nodes) for part in snapshot.partitions}
    asked = set(map(_PARTITIONS, map(snapshot.by_id.__getitem__, ours)))
    reached = frozenset[str]().union(*(nodes.get(name, ()) for each in asked for name in each))

    @cache
    def meets(partitions: tuple[str, ...]) -> bool:
        # A partition whose nodes nobody told may have any.
        return any(
            not nodes.get(p) or not reached.isdisjoint(nodes[p]) for p in partitions or ("",)
        )

    by_id = snapshot.by_id
    return [job for job in strangers if job not in by_id or meets(by_id[job].partitions)]


def _change(
    job: LiveJob, knob: Knob, snapshot: Snapshot, wanted: int, given: int, decision: Decision
) -> Change:
    # An array goes by its label, which names the tasks that wait together: its number alone would
    # reach tasks that run or that an operator has set apart, too.
    reason = decision.reasons.get(job.id, "makes room for the jobs that go first")
    if knob is Knob.PRIORITY:
        return Change(job.id, job.label, knob, given, wanted, reason)
    # What job_submit.lua gave is ours, too: without us it would have been none.
    first = bool(job.comment) and first_factor(job.comment) != 0
    before = snapshot.site_of(job.id) if job.id in snapshot.touched and not first else 0
    return Change(job.id, job.label, knob, before, wanted - given, reason)


def _hints(decision: Decision, snapshot: Snapshot, own: LedgerView) -> list[Change]:
    """Where jobs that start now should; a job that was sent there and still waits is let go."""
    changes = []
    sent = {knob: own.hinted(knob) for knob in (Knob.NODE, Knob.FEATURES)}
    for number in decision.order if any(sent.values()) or decision.hints else ():
        job, hint = snapshot.by_id[number], decision.hints.get(number) or Hint()
        for knob, wish in ((Knob.NODE, hint.node), (Knob.FEATURES, hint.feature)):
            had = sent[knob].get(number, "")
            if wish == had or (knob is Knob.FEATURES and set_since(job, {had})):
                continue
            reason = f"it fits on {wish} now" if wish else "it did not start where it was sent"
            changes.append(Change(number, job.label, knob, had, wish, reason))
    return changes
