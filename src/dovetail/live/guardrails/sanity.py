"""A cluster does not change beyond recognition between two looks: if it did, one look is wrong.

It holds for one cycle only: the next one compares with what was seen now.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Glimpse, Ruling, Situation, passed, stopped
from dovetail.live.guardrails.words import jobs, some
from dovetail.live.model.decision import Decision

NAME = "sanity"


def sanity(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """Stop when the snapshot, or the decision on it, cannot be true."""
    seen = [*_order(decision, situation), *_doubts(situation, config)]
    before = situation.before
    if before is not None:
        seen += [
            *_vanished(before, situation, config),
            *_clock(before, situation, config),
            *_nodes(before, situation, config),
        ]
    if seen:
        return stopped(NAME, decision, "; ".join(seen))
    if before is None:
        return passed(NAME, decision, "the first look: nothing to compare with")
    return passed(NAME, decision, "the cluster looks as it did a cycle ago")


def _order(decision: Decision, situation: Situation) -> Iterator[str]:
    waiting = situation.snapshot.pending_ids
    ordered = set(decision.order)
    if strange := len(ordered - waiting):
        yield f"{jobs(strange)} in the order not waiting"
    if twice := len(decision.order) - len(ordered):
        yield f"{jobs(twice)} in the order twice"


def _doubts(situation: Situation, config: GuardrailConfig) -> Iterator[str]:
    doubts, rows = situation.snapshot.doubts, len(situation.snapshot.jobs)
    most = config.doubts_share * (rows + len(doubts))
    if len(doubts) >= config.doubts_rows and len(doubts) > most:
        yield (
            f"{len(doubts):,} of {some(rows + len(doubts), 'row')} could not be read, "
            f"the first: {doubts[0]}"
        )


def _vanished(before: Glimpse, situation: Situation, config: GuardrailConfig) -> Iterator[str]:
    gone = len(before.pending - situation.snapshot.by_id.keys())
    if gone >= config.vanished_jobs and gone > config.vanished_share * len(before.pending):
        yield (
            f"{gone:,} of {len(before.pending):,} waiting jobs vanished in one cycle "
            "without having started"
        )


def _clock(before: Glimpse, situation: Situation, config: GuardrailConfig) -> Iterator[str]:
    wall = situation.snapshot.time - before.wall
    steady = situation.steady - before.steady
    if not abs(wall - steady) <= config.clock_jump:
        yield f"the wall clock went {wall:+.1f} s while {steady:.1f} s passed"


def _nodes(before: Glimpse, situation: Situation, config: GuardrailConfig) -> Iterator[str]:
    usable = {node.name for node in situation.snapshot.usable_nodes}
    lost, new = len(before.nodes - usable), len(usable - before.nodes)
    if lost + new > config.nodes_share * len(before.nodes):
        yield (
            f"of {some(len(before.nodes), 'usable node')} {lost:,} went and {new:,} came "
            "in one cycle"
        )
