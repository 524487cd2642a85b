"""The gate: what was learned is kept only where it is clearly ahead of what was chosen.

It is judged on jobs that no learner saw, block of time by block of time, by what all who wait are
charged and by the jobs that came meanwhile: both have to lead, beyond chance. A lead of 0.1 in the
logarithm, which sufficed before, is chance where blocks are few: of two heuristics, one is ahead of
the other by 0.4 to 1 on a single block of 250 jobs, and behind on the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.agents.aim import USUAL, clear_lead
from dovetail.agents.choice.cells import BLOCK_JOBS, CellsOfSite
from dovetail.agents.evidence import BlockEvidence, weigh_blocks
from dovetail.agents.players import Players
from dovetail.agents.replays import WORSE, Contestant, Measured, Score, mean_score
from dovetail.domain.job_groups import SIZES
from dovetail.domain.objective import Objective
from dovetail.domain.units import share

LEAST_BLOCKS = 10
"""Disjoint blocks in which jobs wait, below which nothing is told from chance."""


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """How what was learned stands to what was chosen, and whether that is enough."""

    evidence: BlockEvidence
    tails: tuple[float, ...] = ()  # 95th percentile of waits of each size class; NaN: too few jobs
    tail_against_slurm: float = 0.0  # logarithm, of the size class that pays most
    promised: float = math.inf  # by what part that may grow

    @property
    def passed(self) -> bool:
        return not self._objection

    @property
    def _objection(self) -> str:
        """Why the choice is kept; empty: it is not."""
        # Comparisons with NaN are False: what could not be measured does not pass.
        found = self.evidence
        lead = f"what was learned is ahead ({found.charged.score})"
        if not self._keeps_promise:
            return (
                "what was learned breaks the promise to size classes, 95th percentile of waits "
                f"{math.expm1(self.tail_against_slurm):+.0%} against Slurm's order, promised "
                f"{self.promised:+.0%}"
            )
        if found.blocks < LEAST_BLOCKS:
            return (
                "the history is too short to tell whether what was learned is better: jobs wait "
                f"in {found.blocks} of the blocks of {BLOCK_JOBS} jobs held back to judge it, "
                f"{LEAST_BLOCKS} are needed"
            )
        asked = clear_lead(found.charged.score.aim)
        if not found.charged.score.gain <= -asked:
            return (
                f"what was learned is not clearly ahead of it ({found.charged.score}; "
                f"{share(-math.expm1(-asked))} is asked for)"
            )
        if not found.own.score.gain <= -asked:
            return f"{lead} by all who wait, but not by jobs that came meanwhile: {found.own.score}"
        upper = max(found.charged.upper, found.own.upper)
        if not upper < 0.0:
            return (
                f"{lead}, but that may be chance: over {found.blocks} blocks of time it could as "
                f"well be {math.expm1(upper):+.0%}"
            )
        if not found.total.gain <= 0.0:
            return f"{lead} in most blocks of time, but over all of them it is not: {found.total}"
        tails = [-math.inf if math.isnan(tail) else tail for tail in self.tails]
        if max(tails, default=-math.inf) > math.log1p(WORSE):
            pays = SIZES[tails.index(max(tails))]
            return (
                f"{lead}, but jobs of {pays} would pay: 95th percentile of waits "
                f"{math.expm1(max(tails)):+.0%}"
            )
        return ""

    @property
    def _keeps_promise(self) -> bool:
        return math.isinf(self.promised) or self.tail_against_slurm <= math.log1p(self.promised)

    def __str__(self) -> str:
        if self.passed:
            return f"the learned policy is kept: {self.evidence.charged.score} against the choice"
        return f"the choice is kept: {self._objection}"

    def facts(self) -> dict[str, Any]:
        """For the card of a checkpoint."""
        found = self.evidence
        return {
            "passed": self.passed,
            "sentence": str(self),
            "tail_against_slurm": math.expm1(self.tail_against_slurm),
            "gain": found.charged.score.gain,
            "blocks": found.blocks,
            "upper": max(found.charged.upper, found.own.upper),
            **found.charged.score.facts(),
            **{f"total_{name}": value for name, value in found.total.facts().items()},
            **{f"own_{name}": value for name, value in found.own.score.facts().items()},
            "tails": {
                name: math.expm1(tail)
                for name, tail in zip(SIZES, self.tails, strict=False)
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
    aim: Objective = USUAL,
) -> GateVerdict:
    """Play both on every cell that the players hold; and Slurm's order, where that binds."""
    ours, theirs = (_play_sites(one, cells, players) for one in (learned, chosen))
    evidence = weigh_blocks(list(zip(ours, theirs, strict=True)), aim)
    tails = mean_score([_mean_against(a, b) for a, b in zip(ours, theirs, strict=True)]).tails
    if slurm is None or math.isinf(promised):
        return GateVerdict(evidence, tails)
    before = _play_sites(slurm, cells, players)
    every = [
        a.against(b) for pair in zip(ours, before, strict=True) for a, b in zip(*pair, strict=True)
    ]
    return GateVerdict(evidence, tails, mean_score(every).worst_tail, promised)


def _play_sites(
    one: Contestant, cells: Sequence[CellsOfSite], players: Players
) -> list[list[Measured]]:
    """What a contestant makes of the cells of each site."""
    found = players.play([(number, one) for site in cells for number in site.numbers])
    rest = iter(found)
    return [[next(rest) for _ in site.numbers] for site in cells]


def _mean_against(ours: Sequence[Measured], theirs: Sequence[Measured]) -> Score:
    return mean_score([a.against(b) for a, b in zip(ours, theirs, strict=True)])
