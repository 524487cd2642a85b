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

    @property
    def passed(self) -> bool:
        # A comparison with NaN is False: what could not be measured does not pass.
        return self.score.gain <= -AHEAD and self.score.worst_tail <= math.log1p(WORSE)

    def __str__(self) -> str:
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
    learned: Contestant, chosen: Contestant, cells: Sequence[CellsOfSite], players: Players
) -> GateVerdict:
    """Play both on every cell that the players hold."""
    numbers = [number for site in cells for number in site.numbers]
    tasks = [(number, one) for one in (learned, chosen) for number in numbers]
    found = players.play(tasks)
    ours, theirs = found[: len(numbers)], found[len(numbers) :]
    scores = dict(
        zip(numbers, (a.against(b) for a, b in zip(ours, theirs, strict=True)), strict=True)
    )
    return GateVerdict(
        mean_score([mean_score([scores[n] for n in site.numbers]) for site in cells])
    )
