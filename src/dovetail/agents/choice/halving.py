"""Choose by halving: many candidates on few cells, the better ones on all of them.

history = open_history(Site(trace, cluster), "predicted")
cells = list(choice_cells(history, CellConfig("predicted")))
with LocalPlayers(cells) as players:
    choice = choose(number_cells([cells]), "predicted", players)
choice.best                  # PolicyCandidate(order="saf", estimates="predicted:...", ...)
choice.table                 # the last ones, each with its Score against the reference
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dovetail.agents.aim import CHOSEN_AHEAD, USUAL, clear_lead
from dovetail.agents.choice.candidates import (
    PLACEMENT,
    PolicyCandidate,
    beliefs,
    gentle,
    heuristics,
    orders,
    reference,
    variants,
)
from dovetail.agents.choice.cells import CellsOfSite
from dovetail.agents.choice.for_slowdown import slowdown_orders
from dovetail.agents.players import Players
from dovetail.agents.replays import (
    Measured,
    Score,
    mean_score,
    total_score,
    worse_score,
)
from dovetail.domain.errors import ConfigError
from dovetail.domain.objective import Objective

FINALISTS, HEURISTICS = 6, 3
"""Candidates, and heuristics as they are usually run, that go on to all cells."""


MARGIN = 0.5
"""The part of what is promised that a candidate may use up here: on the next part of a history it
is more (docs/decisions/0109)."""

EARLY = 2
"""Cells that candidates are first played on, at least one of each site."""


class NoQueueError(ConfigError):
    """The cells say nothing of any candidate."""


@dataclass(frozen=True, slots=True)
class ChoiceProgress:
    """How many replays are done, and the best so far."""

    epoch: int
    epochs: int
    best: PolicyCandidate

    def __str__(self) -> str:
        return f"choosing, replay {self.epoch}/{self.epochs}: best so far {self.best}"


@dataclass(frozen=True, slots=True)
class PolicyChoice:
    """The best candidate if it is clearly ahead of SAF; else SAF as it is usually run here.

    Over parts of a history leads of five per cent turned over on the next part; over all that is
    known, in many blocks, they mostly hold (docs/decisions/0123).
    """

    best: PolicyCandidate
    table: tuple[tuple[PolicyCandidate, Score], ...]  # best first

    def facts(self) -> dict[str, Any]:
        """For the card of a checkpoint."""
        return {
            "order": self.best.order,
            "placement": self.best.placement,
            "estimates": self.best.estimates,
            "limits": self.best.limits,
            "table": [
                {"candidate": str(candidate), **score.facts()} for candidate, score in self.table
            ],
        }


class _Race:
    """Plays candidates on cells, each pair once."""

    def __init__(
        self,
        cells: Sequence[CellsOfSite],
        players: Players,
        rival: PolicyCandidate,
        report: Callable[[ChoiceProgress], None],
        aim: Objective,
    ) -> None:
        self.cells, self.players, self.rival, self.report = cells, players, rival, report
        self.aim = aim
        self.found: dict[tuple[PolicyCandidate, int], Measured] = {}
        self.best, self.planned = rival, 0

    def rank(
        self, candidates: Iterable[PolicyCandidate], numbers: Sequence[int]
    ) -> list[PolicyCandidate]:
        """Best first, by these cells."""
        entered = list(dict.fromkeys([self.rival, *candidates]))
        tasks = [
            (number, one)
            for one in entered
            for number in numbers
            if (one, number) not in self.found
        ]
        self.planned = len(self.found) + len(tasks)
        batch = max(1, len(numbers) * 4)
        for begin in range(0, len(tasks), batch):
            part = tasks[begin : begin + batch]
            for (number, one), measured in zip(part, self.players.play(part), strict=True):
                self.found[one, number] = measured
            self.report(ChoiceProgress(len(self.found), self.planned, self.best))
        # Of candidates that make the same of every cell, the first one stands for all.
        scores = {one: self.score(one, numbers) for one in entered}
        alike = {score.weighed: one for one, score in reversed(scores.items())}
        ranked = sorted(alike.values(), key=lambda one: scores[one].gain)
        self.best = ranked[0]
        return ranked

    def tail(self, candidate: PolicyCandidate, other: PolicyCandidate) -> float:
        """Of the size class that pays most against another candidate, over all cells of both."""
        scores = [
            self.found[candidate, number].against(self.found[other, number])
            for site in self.cells
            for number in site.numbers
        ]
        return mean_score(scores).worst_tail

    def score(self, candidate: PolicyCandidate, numbers: Sequence[int]) -> Score:
        """Against the reference, by blocks or by totals, whichever is worse; sites count alike."""
        blocks, totals = [], []
        for site in self.cells:
            own = [number for number in site.numbers if number in set(numbers)]
            ours = [self.found[candidate, number] for number in own]
            theirs = [self.found[self.rival, number] for number in own]
            pairs = zip(ours, theirs, strict=True)
            blocks.append(mean_score([a.against(b, self.aim) for a, b in pairs]))
            totals.append(total_score(ours, theirs, self.aim))
        found = worse_score(mean_score(blocks), mean_score(totals))
        if math.isnan(found.wait):
            raise NoQueueError(
                "jobs hardly wait in the validation part, there is nothing to choose or to learn; "
                "try a smaller cluster"
            )
        return found


def choose(
    cells: Sequence[CellsOfSite],
    estimates: str,
    players: Players,
    report: Callable[[ChoiceProgress], None] = lambda progress: None,
    promised: float = math.inf,
    aim: Objective = USUAL,
    placements: tuple[str, ...] = PLACEMENT,
) -> PolicyChoice:
    """The best candidate by what is aimed at; `players` hold the cells.

    promised: by what part a size class's 95th percentile may grow against Slurm's own order. It is
    a constraint: who uses up more than `MARGIN` of it is no candidate, however short the mean wait;
    Slurm's order never does. placements: those to choose among, the usual one first.
    """
    place = placements[0]
    race = _Race(cells, players, replace(reference(estimates), placement=place), report, aim)
    usual_runs = _on(place, heuristics(estimates))
    every_order = [*orders(estimates), *slowdown_orders(estimates, aim)]
    everywhere = [number for site in cells for number in site.numbers]
    few = max(1, EARLY // len(cells))
    some = [number for site in cells for number in _spread(site.numbers, few)]
    usual = race.rank(usual_runs, some)[:HEURISTICS]
    best = race.rank(_on(place, every_order), some)[:FINALISTS]
    every = [other for one in best for other in variants(one, placements)]
    best = race.rank(every, some)[:FINALISTS]
    slurm, *others = near_slurm = _on(place, gentle(estimates))
    final = [*usual, *best] if math.isinf(promised) else [*usual, *best, *near_slurm]
    ranked = race.rank(final, everywhere)
    plain_orders = set(usual_runs)
    if not math.isinf(promised):
        plain_orders.update(others)
        kept = [one for one in ranked if race.tail(one, slurm) <= math.log1p(MARGIN * promised)]
        ranked = kept if slurm in kept else [*kept, slurm]
    table = tuple((one, race.score(one, everywhere)) for one in ranked)
    usual = [one for one in ranked if one in plain_orders]
    plain = race.rival if race.rival in usual else usual[0]  # SAF may break a promise
    clearly = table[0][1].gain <= -CHOSEN_AHEAD  # scores are against the reference
    return PolicyChoice(ranked[0] if clearly else plain, table)


def _on(placement: str, candidates: Iterable[PolicyCandidate]) -> list[PolicyCandidate]:
    return [replace(one, placement=placement) for one in candidates]


def choose_limits(
    cells: Sequence[CellsOfSite],
    chosen: PolicyCandidate,
    players: Players,
    report: Callable[[ChoiceProgress], None] = lambda progress: None,
    aim: Objective = USUAL,
) -> PolicyCandidate:
    """The same, with how far it believes limits where it is told these.

    cells: of sites whose jobs have limits. As they are, unless less belief is clearly ahead.
    """
    believed, *others = beliefs(chosen)
    race = _Race(cells, players, believed, report, aim)
    everywhere = [number for site in cells for number in site.numbers]
    try:
        best = race.rank(others, everywhere)[0]
    except NoQueueError:  # at other sites they do
        return chosen
    if race.score(best, everywhere).gain > -clear_lead(aim):
        return chosen
    told = best.estimates
    # What is learned from limits is held against limits that are believed as far.
    by_limits = chosen.estimates == believed.estimates
    return replace(chosen, limits=told, estimates=told if by_limits else chosen.estimates)


def _spread(numbers: Sequence[int], count: int) -> list[int]:
    """So many of them, from all over the list."""
    at = np.linspace(0, len(numbers) - 1, min(count, len(numbers))).round().astype(int)
    return [numbers[i] for i in dict.fromkeys(at.tolist())]
