"""The gate: what was learned is kept only where it is clearly ahead of what was chosen.

On six real traces, gains below 0.1 in the logarithm on validation did not carry over to later
weeks (-0.098 became +0.17); those above did (-0.24 became -0.25).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.agents.choice.cells import CellsOfSite
from dovetail.agents.players import Players
from dovetail.agents.replays import AHEAD, WORSE, Contestant, Score, mean_score
from dovetail.domain.job_groups import SIZES
from dovetail.domain.units import share


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """How what was learned stands to what was chosen, and whether that is enough."""

    score: Score
    tail_against_slurm: float = 0.0  # logarithm, of the size class that pays most
    promised: float = math.inf  # by what part that may grow

    @property
    def passed(self) -> bool:
        # A comparison with NaN is False: what could not be measured does not pass.
        ahead = self.score.gain <= -AHEAD and self.score.worst_tail <= math.log1p(WORSE)
        return ahead and self.keeps_promise

    @property
    def keeps_promise(self) -> bool:
        return math.isinf(self.promised) or self.tail_against_slurm <= math.log1p(self.promised)

    def __str__(self) -> str:
        if not self.keeps_promise:
            return (
                "the choice is kept: what was learned breaks the promise to size classes, "
                f"95th percentile of waits {math.expm1(self.tail_against_slurm):+.0%} against "
                f"Slurm's order, promised {self.promised:+.0%}"
            )
        if self.passed:
            return f"the learned policy is kept: {self.score} against the choice"
        if math.isnan(self.score.gain):
            return "the choice is kept: nothing that was learned could be measured against it"
        if self.score.gain > -AHEAD:
            return (
                f"the choice is kept: what was learned is not clearly ahead of it ({self.score}; "
                f"{share(-math.expm1(-AHEAD))} is asked for)"
            )
        tails = [-math.inf if math.isnan(tail) else tail for tail in self.score.tails]
        pays = SIZES[tails.index(max(tails))]
        return (
            f"the choice is kept: what was learned is ahead ({self.score}), but jobs of {pays} "
            f"would pay: 95th percentile of waits {math.expm1(max(tails)):+.0%}"
        )

    def facts(self) -> dict[str, Any]:
        """For the card of a checkpoint."""
        return {
            "passed": self.passed,
            "sentence": str(self),
            "tail_against_slurm": math.expm1(self.tail_against_slurm),
            "gain": self.score.gain,
            "wait": math.expm1(self.score.wait),
            "bsld": math.expm1(self.score.bsld),
            "tails": {
                name: math.expm1(tail)
                for name, tail in zip(SIZES, self.score.tails, strict=False)
                if not math.isnan(tail)
            },
        }


def judge(
    learned: Contestant,
    chosen: Contestant,
    cells: Sequence[CellsOfSite],
    players: Players,
    slurm: Contestant | None = None,
    promised: float = math.inf,
) -> GateVerdict:
    """Play both on every cell that the players hold; and Slurm's order, where that binds."""
    numbers = [number for site in cells for number in site.numbers]
    tasks = [(number, one) for one in (learned, chosen) for number in numbers]
    found = players.play(tasks)
    ours, theirs = found[: len(numbers)], found[len(numbers) :]
    scores = dict(
        zip(numbers, (a.against(b) for a, b in zip(ours, theirs, strict=True)), strict=True)
    )
    score = mean_score([mean_score([scores[n] for n in site.numbers]) for site in cells])
    if slurm is None or math.isinf(promised):
        return GateVerdict(score)
    before = players.play([(number, slurm) for number in numbers])
    tail = mean_score([a.against(b) for a, b in zip(ours, before, strict=True)]).worst_tail
    return GateVerdict(score, tail, promised)
