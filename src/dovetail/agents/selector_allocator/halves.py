"""Which half is worth having: the pair, its selector, its allocator, or neither.

What two agents learned together is not always best together, nor always better than what they began
as. The gate judges one of the four, the best on validation replays; whichever it is, it is a pair.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dovetail.agents.choice.candidates import PolicyCandidate
from dovetail.agents.learner_replays import Arrays, LearnerReplays
from dovetail.agents.replays import Score
from dovetail.policies.learned.checkpoint import Checkpoint

PAIR, SELECTOR, ALLOCATOR, START = "pair", "selector", "allocator", "start"


def combinations(arrays: Arrays, base: PolicyCandidate) -> dict[str, Arrays]:
    """The pair, each of its networks beside the base's heuristic for the other, and the base."""
    found: dict[str, Arrays] = {PAIR: arrays}
    order, placement = np.array(base.order), np.array(base.placement)
    if "order" not in arrays and "placement" not in arrays:
        found[SELECTOR] = {**_of(arrays, SELECTOR), "placement": placement}
        found[ALLOCATOR] = {**_of(arrays, ALLOCATOR), "order": order}
    found[START] = {"order": order, "placement": placement}
    return found


def best_halves(learned: Checkpoint, base: PolicyCandidate, replays: LearnerReplays) -> Checkpoint:
    """The best of the combinations; the card says how each did."""
    found = combinations(learned.arrays, base)
    scores = dict(zip(found, replays.play(list(found.values()), replays.validation), strict=True))
    best = min(scores, key=lambda name: _loss(scores[name]))
    card = {**learned.card, "halves": _facts(scores), "kept": best}
    return Checkpoint(learned.kind, found[best], card, learned.estimates)


def _of(arrays: Arrays, half: str) -> Arrays:
    return {name: part for name, part in arrays.items() if name.startswith(f"{half}_")}


def _loss(score: Score) -> float:
    return 0.0 if math.isnan(score.loss) else score.loss


def _facts(scores: Mapping[str, Score]) -> dict[str, dict[str, float]]:
    return {name: {"loss": _loss(score), **score.facts()} for name, score in scores.items()}
