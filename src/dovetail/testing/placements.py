"""A placement gives legal schedules, the same ones every time, and says what it prefers."""

from __future__ import annotations

from collections.abc import Callable

from dovetail.domain.policy import Placement
from dovetail.policies.ordering import ORDERINGS
from dovetail.testing.schedules import check_replays


def gives_legal_schedules(placement: Placement) -> None:
    """With every backfill, a crowded replay ends and breaks no rule, and the same twice."""
    check_replays(ORDERINGS["saf"], placement)


def has_one_line(placement: Placement) -> None:
    """There is one line about it for lists."""
    assert placement.description, (
        f"{placement.name}: give it `about`, or its preference a docstring"
    )
    assert "\n" not in placement.description, f"{placement.name}: `about` has more than one line"


CHECKS: tuple[Callable[[Placement], None], ...] = (gives_legal_schedules, has_one_line)


def check_placement(placement: Placement) -> None:
    """All that every placement is held to."""
    for check in CHECKS:
        check(placement)
