"""Parts that plain simulations do not need, compiled when one does; part_calls.py calls them."""

from __future__ import annotations

from numba.types import float64, int64, void

from dovetail.compiled.native import taker
from dovetail.compiled.parts import OptionalPart, row_at
from dovetail.simulator.kernel import (
    closures,
    eligibility,
    facts,
    fair_tree,
    limits,
    node_classes,
    node_space,
    outages,
    placement,
    planned,
    promises,
)
from dovetail.simulator.kernel.demand_rows import Chunk
from dovetail.simulator.kernel.rows import World
from dovetail.simulator.kernel.rules import RULES

world_at = row_at(World)
chunk_at = row_at(Chunk)
rules_at = taker(RULES)


def _at_limit(world: int, number: int) -> int:
    return int(limits.at_limit(world_at(world), number))


def _is_refused(world: int, number: int) -> int:
    return int(limits.is_refused(world_at(world), number))


def _close_limited(world: int) -> None:
    limits.close_limited(world_at(world))


def _count_running(world: int, job: int, by: int) -> None:
    limits.count_running(world_at(world), job, by)


def _count_submitted(world: int, number: int, by: int) -> None:
    limits.count_submitted(world_at(world), number, by)


LIMITS = (
    OptionalPart("at_limit_part", int64(int64, int64), _at_limit),
    OptionalPart("is_refused_part", int64(int64, int64), _is_refused),
    OptionalPart("close_limited_part", void(int64), _close_limited),
    OptionalPart("count_running_part", void(int64, int64, int64), _count_running),
    OptionalPart("count_submitted_part", void(int64, int64, int64), _count_submitted),
)


def _pass_held(world: int) -> None:
    eligibility.pass_held(world_at(world))


def _note_moment(world: int, job: int, moment: int) -> None:
    eligibility.note(world_at(world), job, moment)


DEPENDENCIES = (
    OptionalPart("pass_held_part", void(int64), _pass_held),
    OptionalPart("note_moment_part", void(int64, int64, int64), _note_moment),
)


def _happen(world: int, number: int) -> None:
    w = world_at(world)
    outages.happen(w, rules_at(w.kept_rules), number)


def _withdraw(world: int, number: int) -> None:
    closures.withdraw(world_at(world), number)


def _reopening(world: int, number: int, gpus: int, cpus: int, memory: int) -> float:
    return closures.reopening(world_at(world), number, gpus, cpus, memory)


def _reserved_begin(world: int, number: int, begin: float, length: float) -> float:
    return node_space.reserved_begin(world_at(world), number, begin, length)


def _count_unplanned(world: int, at: int, begin: float, end: float) -> int:
    return node_space.count_unplanned(world_at(world), at, begin, end)


OUTAGES = (
    OptionalPart("happen_part", void(int64, int64), _happen),
    OptionalPart("withdraw_part", void(int64, int64), _withdraw),
    OptionalPart("reopening_part", float64(int64, int64, int64, int64, int64), _reopening),
    OptionalPart("reserved_begin_part", float64(int64, int64, float64, float64), _reserved_begin),
    OptionalPart("count_unplanned_part", int64(int64, int64, float64, float64), _count_unplanned),
)


def _calculate_shares(world: int, half_life: float) -> None:
    fair_tree.calculate(world_at(world), half_life)


def _charge_share(world: int, row: int, amount: float) -> None:
    fair_tree.charge(world_at(world), row, amount)


FAIR_TREE = (
    OptionalPart("calculate_shares_part", void(int64, float64), _calculate_shares),
    OptionalPart("charge_share_part", void(int64, int64, float64), _charge_share),
)


def _note_promised_end(world: int, job: int, number: int) -> None:
    promises.note_end(world_at(world), job, number)


def _leaves_room(world: int, number: int, chunk: int, end: float) -> int:
    return int(promises.leaves_room(world_at(world), number, chunk_at(chunk), end))


def _enough_room(world: int, kinds: int, chunk: int, end: float, wanted: int) -> int:
    return int(promises.enough_room(world_at(world), kinds, chunk_at(chunk), end, wanted))


PROMISES = (
    OptionalPart("note_promised_end_part", void(int64, int64, int64), _note_promised_end),
    OptionalPart("leaves_room_part", int64(int64, int64, int64, float64), _leaves_room),
    OptionalPart("enough_room_part", int64(int64, int64, int64, float64, int64), _enough_room),
)


def _describe(world: int) -> None:
    facts.describe(world_at(world))


def _choose_switches(world: int, kinds: int, chunk: int, end: float, many: int) -> int:
    return placement.choose_switches(world_at(world), kinds, chunk_at(chunk), end, many)


FACTS = (OptionalPart("describe_part", void(int64), _describe),)
SWITCHES = (
    OptionalPart(
        "choose_switches_part", int64(int64, int64, int64, float64, int64), _choose_switches
    ),
)


def _place_by_rank(world: int, job: int) -> int:
    return node_classes.place_by_rank(world_at(world), job)


def _has_choice(world: int, job: int) -> int:
    return int(planned.has_choice(world_at(world), job))


RANKED = (OptionalPart("place_by_rank_part", int64(int64, int64), _place_by_rank),)
PLANNED = (OptionalPart("has_choice_part", int64(int64, int64), _has_choice),)
