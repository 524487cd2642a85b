"""A policy by name: an order, a backfill and a placement, written `saf+easy@best-fit`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dovetail.domain.policy import Backfill, Ordering, Placement
from dovetail.domain.registry import Registry
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS

BACKFILLS: Registry[Backfill] = Registry("backfill", {part.value: part for part in Backfill})


def ordering_named(text: str) -> Ordering:
    """The ordering behind a name or a checkpoint's folder.

    The one place that knows what an order may be called.
    """
    if text not in ORDERINGS and Path(text).is_dir():
        from dovetail.agents.checkpoint import load_checkpoint  # spares others its import

        return load_checkpoint(Path(text)).ordering(text)
    return ORDERINGS[text]


@dataclass(frozen=True, slots=True)
class Policy:
    """Names only, checked on construction, so that a policy travels between processes.

    >>> Policy.parse("saf@fgd").label()
    'saf+easy@fgd'
    """

    order: str
    backfill: str = Backfill.EASY.value
    placement: str = "best-fit"

    def __post_init__(self) -> None:
        # Looking each part up is the check: an unknown name answers "did you mean".
        self.parts()

    @classmethod
    def parse(
        cls, text: str, backfill: str = Backfill.EASY.value, placement: str = "best-fit"
    ) -> Policy:
        """From ORDER[+BACKFILL][@PLACEMENT]; the other arguments stand in for what is left out."""
        head, _, place = _cut(text, "@")
        order, _, fill = _cut(head, "+")
        return cls(order.strip(), fill.strip() or backfill, place.strip() or placement)

    def parts(self) -> tuple[Ordering, Placement, Backfill]:
        """What the simulator takes."""
        return ordering_named(self.order), PLACEMENTS[self.placement], BACKFILLS[self.backfill]

    def label(self, backfill: str | None = None, placement: str | None = None) -> str:
        """The text that `parse` reads, without what equals a default given here."""
        fill = "" if self.backfill == backfill else f"+{self.backfill}"
        place = "" if self.placement == placement else f"@{self.placement}"
        return f"{self.order}{fill}{place}"


def _cut(text: str, sign: str) -> tuple[str, str, str]:
    """Split at the last sign, unless it is part of a path: an order may be a folder."""
    head, found, tail = text.rpartition(sign)
    return (head, found, tail) if found and "/" not in tail else (text, "", "")
