"""A policy: an order, a backfill and a placement, written `saf+easy@best-fit` or given as objects.

>>> as_policy("saf+none@fgd").label()  # or the folder of a checkpoint
'saf+none@fgd'
>>> as_policy(PLACEMENTS["fgd"]).label()  # an object, of your own too; an Ordering alike
'fcfs+easy@fgd'
>>> def area(job):
...     return job.gpus * job.estimate
>>> as_policy(area).label()  # a plain function of a job
'area+easy@best-fit'
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from dovetail.domain.errors import ConfigError
from dovetail.domain.estimates import LIMIT, PREDICTED
from dovetail.domain.policy import Backfill, BackfillRule, Ordering, Placement, SlurmBackfill
from dovetail.domain.registry import Registry
from dovetail.policies.ordering import ORDERINGS, SHIPPED_NAME
from dovetail.policies.placement import OWN, PLACEMENTS

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


SHIPPED = Path(__file__).parent / "learned" / "shipped"
"""A policy trained on several histories, for clusters without a training of their own."""


def policy_named(text: str) -> tuple[Ordering, Placement]:
    """The ordering behind a name or a checkpoint's folder, and the placement that goes with it.

    The one place that knows what an order may be called.
    """
    folder = checkpoint_folder(text)
    if folder is not None:
        from dovetail.policies.learned.checkpoint import load_checkpoint  # spares others its import

        return load_checkpoint(folder).policy(text)
    if text not in ORDERINGS:
        raise ORDERINGS.unknown(text, SHIPPED_NAME)
    return ORDERINGS[text], PLACEMENTS["best-fit"]


def checkpoint_folder(text: str) -> Path | None:
    """Where the checkpoint of this name lies; None: it is not one."""
    if text == SHIPPED_NAME:
        return SHIPPED
    return Path(text) if text not in ORDERINGS and os.path.isdir(text) else None


@dataclass(frozen=True, slots=True)
class Policy:
    """Names, checked on construction, and the objects behind those that no registry knows.

    >>> Policy.parse("saf@fgd").label()
    'saf+easy@fgd'
    """

    order: str
    backfill: str = Backfill.EASY.value
    placement: str = ""  # empty: best-fit, or what the checkpoint was trained with
    ordering: Ordering | None = field(default=None, repr=False)  # None: the one of that name
    placer: Placement | None = field(default=None, repr=False)  # likewise
    rule: BackfillRule | None = field(default=None, repr=False)  # likewise

    def __post_init__(self) -> None:
        if not self.placement:
            trained = self.ordering is None and checkpoint_folder(self.order)
            object.__setattr__(self, "placement", OWN if trained else "best-fit")
        # Other processes, to which a policy may be sent, know nothing of what was registered here.
        if self.ordering is None and ORDERINGS.is_registered(self.order):
            object.__setattr__(self, "ordering", ORDERINGS[self.order])
        if self.placer is None and PLACEMENTS.is_registered(self.placement):
            object.__setattr__(self, "placer", PLACEMENTS[self.placement])
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
        if self.ordering is None:
            ordering, own = policy_named(self.order)
        else:
            ordering, own = self.ordering, PLACEMENTS["best-fit"]
        placement = self.placer or (own if self.placement == OWN else PLACEMENTS[self.placement])
        return ordering, placement, self.rule or backfill_named(self.backfill)

    def told(self, estimates: str) -> str:
        """What it goes by where estimates of this kind are asked for.

        Plain `predicted` leaves open what of a prediction is used, `limit` how far limits are
        believed. A trained policy was chosen together with that, and keeps it.
        """
        folder = checkpoint_folder(self.order) if self.ordering is None else None
        if estimates not in (PREDICTED, LIMIT) or folder is None:
            return estimates
        from dovetail.policies.learned.checkpoint import load_checkpoint

        trained = load_checkpoint(folder)
        own = trained.estimates if estimates == PREDICTED else trained.limits
        return own if own.startswith(f"{estimates}:") else estimates

    def carried(self) -> Policy:
        """The same with all its parts in it: for another machine, which has no such folder."""
        ordering, placement, _ = self.parts()
        return replace(self, ordering=ordering, placer=placement)

    def names(self) -> dict[str, str]:
        """What a result says of it."""
        return {"order": self.order, "backfill": self.backfill, "placement": self.placement}

    def label(self, backfill: str | None = None, placement: str | None = None) -> str:
        """The text that `parse` reads, without what equals a default given here."""
        fill = "" if self.backfill == backfill else f"+{self.backfill}"
        place = "" if self.placement in (placement, OWN) else f"@{self.placement}"
        return f"{self.order}{fill}{place}"


PolicyLike = str | Path | Policy | Ordering | Placement | Callable[..., float]
"""What `as_policy` makes a policy of."""


def as_policy(given: PolicyLike) -> Policy:
    """The policy behind whatever stands for one; see the top of this file.

    An ordering gets EASY backfilling and best-fit, a placement the order of arrival.
    """
    match given:
        case Policy():
            return given
        case str():
            return Policy.parse(given)
        case Path():
            return Policy(str(given))
        case Ordering():
            return Policy(given.name, ordering=given)
        case Placement():
            return Policy("fcfs", placement=given.name, placer=given)
        case _ if callable(given):
            from dovetail.policies.ordering.function import ordering_from  # spares others Numba

            return as_policy(ordering_from(given))
    raise ConfigError(
        f"{given!r} is no policy; expected ORDER[+BACKFILL][@PLACEMENT], a checkpoint's folder, "
        "an Ordering, a Placement, or a function of a job"
    )


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
