"""A policy by name: an order, a backfill and a placement, written `saf+easy@best-fit`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dovetail import agents
from dovetail.domain.errors import ConfigError
from dovetail.domain.policy import Backfill, BackfillRule, Ordering, Placement, SlurmBackfill
from dovetail.domain.registry import Registry
from dovetail.policies.ordering import ORDERINGS
from dovetail.policies.placement import PLACEMENTS

BACKFILLS: Registry[BackfillRule] = Registry(
    "backfill", {part.value: part for part in (*Backfill, SlurmBackfill())}
)


def backfill_named(text: str) -> BackfillRule:
    """From `easy`, `slurm` or `slurm:interval=60,window=2880`."""
    name, _, parameters = text.partition(":")
    rule = BACKFILLS[name]
    if not parameters:
        return rule
    if not isinstance(rule, SlurmBackfill):
        raise ConfigError(f"backfill {name} has no parameters, {parameters!r} was given")
    return SlurmBackfill.parse(parameters)


SHIPPED_NAME = "dovetail"
SHIPPED = Path(agents.__file__).parent / "shipped"
"""A policy trained on several histories, for clusters without a training of their own."""

OWN = "own"
"""The placement that a checkpoint was trained with."""


def policy_named(text: str) -> tuple[Ordering, Placement]:
    """The ordering behind a name or a checkpoint's folder, and the placement that goes with it.

    The one place that knows what an order may be called.
    """
    folder = checkpoint_folder(text)
    if folder is not None:
        from dovetail.agents.checkpoint import load_checkpoint  # spares others its import

        return load_checkpoint(folder).policy(text)
    return ORDERINGS[text], PLACEMENTS["best-fit"]


def checkpoint_folder(text: str) -> Path | None:
    """Where the checkpoint of this name lies; None: it is not one."""
    if text == SHIPPED_NAME:
        return SHIPPED
    return Path(text) if text not in ORDERINGS and Path(text).is_dir() else None


@dataclass(frozen=True, slots=True)
class Policy:
    """Names only, checked on construction, so that a policy travels between processes.

    >>> Policy.parse("saf@fgd").label()
    'saf+easy@fgd'
    """

    order: str
    backfill: str = Backfill.EASY.value
    placement: str = ""  # empty: best-fit, or what the checkpoint was trained with

    def __post_init__(self) -> None:
        if not self.placement:
            own = OWN if checkpoint_folder(self.order) else "best-fit"
            object.__setattr__(self, "placement", own)
        # Looking each part up is the check: an unknown name answers "did you mean".
        self.parts()

    @classmethod
    def parse(cls, text: str, backfill: str = Backfill.EASY.value, placement: str = "") -> Policy:
        """From ORDER[+BACKFILL][@PLACEMENT]; the other arguments stand in for what is left out."""
        head, _, place = _cut(text, "@")
        order, _, fill = _cut(head, "+")
        return cls(order.strip(), fill.strip() or backfill, place.strip() or placement)

    def parts(self) -> tuple[Ordering, Placement, BackfillRule]:
        """What the simulator takes."""
        ordering, own = policy_named(self.order)
        placement = own if self.placement == OWN else PLACEMENTS[self.placement]
        return ordering, placement, backfill_named(self.backfill)

    def label(self, backfill: str | None = None, placement: str | None = None) -> str:
        """The text that `parse` reads, without what equals a default given here."""
        fill = "" if self.backfill == backfill else f"+{self.backfill}"
        place = "" if self.placement in (placement, OWN) else f"@{self.placement}"
        return f"{self.order}{fill}{place}"


def order_in(text: str) -> str:
    """The order that a policy's name begins with, as it stands there; nothing is looked up.

    >>> order_in("saf+easy@fgd"), order_in("models/a@b/run")
    ('saf', 'models/a@b/run')
    """
    head, _, _ = _cut(text, "@")
    order, _, _ = _cut(head, "+")
    return order.strip()


def _cut(text: str, sign: str) -> tuple[str, str, str]:
    """Split at the last sign, unless it is part of a path: an order may be a folder."""
    head, found, tail = text.rpartition(sign)
    return (head, found, tail) if found and "/" not in tail else (text, "", "")
