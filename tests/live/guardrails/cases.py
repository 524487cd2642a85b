"""Situations for guardrails: written by hand on one line, or generated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from dovetail.domain.promises import Finding, PromiseCheck
from dovetail.domain.protection import at_risk
from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Glimpse, PromiseState, Situation
from dovetail.live.model.decision import Decision, Hint
from dovetail.live.model.snapshot import Factor, LiveJob, LiveNode, Share, Snapshot

NOW = 1_000_000.0
HOUR = 3600.0


def waiting(
    number: int,
    own: int = 100,
    hours: float = 0.0,
    site: int = 0,
    frozen: bool = False,
    **others: Any,
) -> tuple[LiveJob, Factor]:
    """A job that has waited so many hours and its priority's parts."""
    values = {"partitions": ("gpu",), "account": "physics", "reason": "Priority", **others}
    total = own + (0 if frozen else site)
    job = LiveJob(number, str(number), "PENDING", eligible=NOW - hours * HOUR, **values)
    return job._replace(priority=others.get("priority", total)), Factor(
        total, site, frozen, 5 if others.get("qos") and not frozen else 0
    )


def situation_of(*rows: tuple[LiveJob, Factor], **others: Any) -> Situation:
    """A cluster with these jobs; fields of the snapshot or of the situation by name."""
    parts = {name: others.pop(name) for name in ("shares", "nodes", "doubts") if name in others}
    snapshot = Snapshot(
        NOW,
        tuple(job for job, _ in rows),
        parts.pop("nodes", ()),
        factors={job.id: factor for job, factor in rows},
        **parts,
    )
    values = {"steady": 5000.0, "before": None, "own": {}, "read_seconds": 0.1, **others}
    return Situation(snapshot, **values)


def nodes(count: int, state: str = "IDLE") -> tuple[LiveNode, ...]:
    return tuple(LiveNode(f"n{number}", state, gpus=4) for number in range(count))


def glimpse(**others: Any) -> Glimpse:
    """The cycle before, a minute ago."""
    values: dict[str, Any] = {
        "wall": NOW - 60.0,
        "steady": 4940.0,
        "pending": frozenset(),
        "running": frozenset(),
        "nodes": frozenset(),
        "order": (),
    }
    return Glimpse(**{**values, **others})


def breach(grouping: str, name: str, baseline: float = 4 * HOUR) -> PromiseState:
    """A group that waits twice as long as under Slurm, its promise broken for an hour."""
    found = Finding(grouping, name, "p95", 100, baseline, 2 * baseline, 1.1 * baseline)
    check = PromiseCheck(broken=(found,))
    return PromiseState(check, at_risk(check), hours=1.0)


def rare(grouping: str, name: str, hours: float = 1.2) -> PromiseState:
    """A group of few jobs, whose jobs go first after so many hours."""
    return PromiseState(rare={(grouping, name): hours * HOUR})


BROKEN = breach("account", "biology")
RARE = rare("account", "biology")


@dataclass(frozen=True)
class Case:
    """What a guardrail gets."""

    decision: Decision
    situation: Situation
    config: GuardrailConfig


@st.composite
def cases(draw: st.DrawFn, most: int = 14) -> Case:
    """Small queues where everything happens: pins, starving jobs, short accounts, tight limits."""
    drawn = draw(st.lists(ROWS, max_size=most))
    rows, count = [_row(number, *row) for number, row in enumerate(drawn, start=1)], len(drawn)
    numbers: Sequence[int] = draw(st.permutations([job.id for job, _ in rows]))
    left = draw(st.integers(0, min(2, count)))
    hinted = draw(st.lists(st.sampled_from(numbers), max_size=3)) if count else []
    situation = situation_of(
        *rows,
        shares=tuple(
            Share(name, share, draw(st.sampled_from((0.0, 0.1, 0.4))))
            for name, share in (("physics", 0.5), ("biology", 0.3), ("maths", 0.2))
        ),
        own={job.id: factor.site for job, factor in rows if factor.site == 7},
        before=draw(
            st.sampled_from(
                (
                    None,
                    glimpse(),
                    glimpse(wall=NOW, pending=frozenset(range(-30, 3))),
                    glimpse(nodes=frozenset("abc")),
                )
            )
        ),
        read_seconds=draw(st.sampled_from((0.1, 99.0))),
        model_trained=draw(st.sampled_from((0.0, NOW - 1e6, NOW - 1e7))),
        active_hours=draw(st.sampled_from((0.0, 9.0))),
        compared_jobs=100,
        actual_wait=draw(st.sampled_from((math.nan, 100.0, 1000.0))),
        slurm_wait=draw(st.sampled_from((math.nan, 0.0, 500.0))),
        promises=draw(
            st.sampled_from((None, PromiseState(), RARE, BROKEN, replace(BROKEN, hours=99.0)))
        ),
        waits=draw(st.sampled_from(({}, {"gpu": 3 * HOUR}, {"gpu": 6 * HOUR, "long": HOUR}))),
    )
    return Case(
        Decision(
            tuple(numbers[left:]),
            reasons=dict.fromkeys(numbers[left:], "by the policy"),
            hints={number: Hint(node="n1") for number in hinted},
            untouched=dict.fromkeys(numbers[:left], "excluded: partition"),
        ),
        situation,
        replace(
            GuardrailConfig(),
            displacement=draw(st.integers(1, 8)),
            starvation_factor=1.0,
            starvation_floor=HOUR,
        ),
    )


ROWS = st.tuples(
    st.sampled_from(("", "", "", "", "ours", "site", "frozen", "held")),
    st.integers(1, 12),
    st.sampled_from((0.0, 0.5, 2.0, 4.0, 5.0, 9.0)),
    st.sampled_from(("physics", "biology", "maths", "")),
    st.sampled_from((("gpu",), ("long",), ("gpu", "long"), ())),
    st.sampled_from(("Priority", "Resources", "QOSMaxJobsPerUserLimit")),
    st.sampled_from(("", "", "urgent")),
)


def _row(
    number: int,
    hand: str,
    own: int,
    hours: float,
    account: str,
    partitions: tuple[str, ...],
    reason: str,
    qos: str,
) -> tuple[LiveJob, Factor]:
    return waiting(
        number,
        own=0 if hand == "held" else own,
        hours=hours,
        site={"ours": 7, "site": 9}.get(hand, 0),
        frozen=hand == "frozen",
        account=account,
        partitions=partitions,
        reason=reason,
        qos=qos,
    )
