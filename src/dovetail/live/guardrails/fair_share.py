"""No account far below its share waits longer because of us: its first job keeps Slurm's place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dovetail.domain.units import share as per_cent
from dovetail.live.config import GuardrailConfig
from dovetail.live.guardrails.base import Ruling, Situation, amended, passed
from dovetail.live.guardrails.latest_places import meet
from dovetail.live.guardrails.slurm_order import places, slurm_order
from dovetail.live.guardrails.starvation import starving
from dovetail.live.guardrails.words import shortened, some
from dovetail.live.model.decision import Decision
from dovetail.live.model.snapshot import Share

NAME = "fair_share"


def fair_share(decision: Decision, situation: Situation, config: GuardrailConfig) -> Ruling:
    """The first job of an account below its floor goes no later than Slurm would take it."""
    short = short_accounts(situation, config)
    if not short:
        return passed(NAME, decision, "no account is far below its share")
    kept = kept_places(slurm_order(decision.order, situation), situation, config)
    wished = places(decision.order)
    late = [job for job, latest in kept.items() if wished[job] > latest]
    if not late:
        return passed(
            NAME, decision, f"{_accounts(short)}: no first job goes later than Slurm would take it"
        )
    by_id = situation.snapshot.by_id
    reasons = {
        job: f"first job of {by_id[job].account}, which is far below its share: "
        f"not later than place {kept[job] + 1}, which Slurm gave it"
        for job in late
    }
    lifted = replace(
        decision, order=meet(decision.order, kept), reasons={**decision.reasons, **reasons}
    )
    names = {by_id[job].account: short[by_id[job].account] for job in late}
    return amended(
        NAME,
        lifted,
        f"{_accounts(names)}: {some(len(late), 'first job')} lifted to the place Slurm gave",
    )


def short_accounts(situation: Situation, config: GuardrailConfig) -> Mapping[str, Share]:
    """Accounts that used less than their share by more than `share_floor` of it."""
    return {
        item.account: item
        for item in situation.snapshot.shares
        if item.usage < item.share * (1.0 - config.share_floor)
    }


def kept_places(
    own: Sequence[int], situation: Situation, config: GuardrailConfig
) -> Mapping[int, int]:
    """First job (of Slurm's order `own`) of each such account -> the latest place for it.

    That is Slurm's place, and one more for each starving job that goes before, up to
    `displacement`: so Slurm's own order always meets these places and the displacement's.
    """
    short, by_id = short_accounts(situation, config), situation.snapshot.by_id
    if not short:
        return {}
    first: dict[str, int] = {}  # account -> place
    for place, job in enumerate(own):
        if job in by_id and (account := by_id[job].account) in short and account not in first:
            first[account] = place
            if len(first) == len(short):
                break
    hungry = places([item.job for item in starving(own, situation, config)])
    passing = [place for place, job in enumerate(own) if job in hungry]

    def latest(place: int) -> int:
        ahead = len(passing) - bisect_right(passing, place)  # starving jobs that Slurm has behind
        behind_hungry = hungry.get(own[place], place + ahead)
        return min(max(place, behind_hungry), place + config.displacement)

    return {own[place]: latest(place) for place in first.values()}


def _accounts(short: Mapping[str, Share]) -> str:
    used = [
        f"{name} used {per_cent(item.usage)} of its {per_cent(item.share)}"
        for name, item in sorted(short.items())
    ]
    return shortened(used)
