"""Decisions as rows: the order as what differs, and the reasons that changed.

Reasons are kept of the jobs at the head of the order, which get a factor; those of ten thousand
jobs, with figures that change every cycle, would be most of the journal.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from dovetail.domain.jobs import Ints
from dovetail.live.journal.orders import FAST, as_array, save
from dovetail.live.model.decision import Decision

HEAD = 1000
"""Jobs whose reasons are kept."""


@dataclass(frozen=True, slots=True)
class SavedDecision:
    """A decision ready to be written."""

    chapter: int
    places: bytes
    reasons: bytes
    untouched: int
    order: Ints
    known: Mapping[int, str]  # the reasons that the journal then has

    @property
    def row(self) -> tuple[bytes, bytes, int]:
        return self.places, self.reasons, self.untouched


class DecisionLog:
    """Remembers the last decision that was written."""

    def __init__(self) -> None:
        self._chapter = 0
        self._order: Ints | None = None
        self._known: Mapping[int, str] = {}

    def prepare(self, decision: Decision, chapter: int) -> SavedDecision:
        """The first in a chapter says all, so that nothing earlier is needed to read it."""
        before, known = (self._order, self._known) if chapter == self._chapter else (None, {})
        order = as_array(decision.order)
        head = {
            job: decision.reasons[job]
            for job in islice(decision.order, HEAD)
            if job in decision.reasons
        }
        changed = [[job, why] for job, why in head.items() if known.get(job) != why]
        return SavedDecision(
            chapter=chapter,
            places=save(order, before),
            reasons=zlib.compress(json.dumps(changed, separators=(",", ":")).encode(), FAST),
            untouched=len(decision.untouched),
            order=order,
            known=head,
        )

    def keep(self, saved: SavedDecision) -> None:
        """It has been written."""
        self._chapter, self._order, self._known = saved.chapter, saved.order, saved.known


def load_reasons(saved: bytes) -> dict[int, str]:
    return {int(job): str(why) for job, why in json.loads(zlib.decompress(saved))}
