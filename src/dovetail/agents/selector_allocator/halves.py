"""Which half is worth having: the pair, its selector with the chosen placement, or its allocator.

What two agents learned together is not always best together. The gate judges one of the three, the
best on validation replays; whichever is written, it is a pair.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dovetail.agents.choice.candidates import PolicyCandidate
from dovetail.agents.replays import Score
from dovetail.agents.selector_allocator.replays import Arrays, PairReplays
from dovetail.policies.learned.checkpoint import Checkpoint

PAIR, SELECTOR, ALLOCATOR = "pair", "selector", "allocator"


def combinations(arrays: Arrays, choice: PolicyCandidate) -> dict[str, Arrays]:
    """The pair, and each of its networks beside the heuristic that was chosen for the other."""
    found: dict[str, Arrays] = {PAIR: arrays}
    if "order" in arrays or "placement" in arrays:
        return found  # one network only
    found[SELECTOR] = {**_of(arrays, SELECTOR), "placement": np.array(choice.placement)}
    found[ALLOCATOR] = {**_of(arrays, ALLOCATOR), "order": np.array(choice.order)}
    return found


def best_halves(learned: Checkpoint, choice: PolicyCandidate, replays: PairReplays) -> Checkpoint:
    """The best of the combinations; the card says how each did."""
    found = combinations(learned.arrays, choice)
    scores = dict(zip(found, replays.play(list(found.values()), replays.validation), strict=True))
    best = min(scores, key=lambda name: _loss(scores[name]))
    card = {**learned.card, "halves": _facts(scores), "kept": best}
    return Checkpoint(learned.kind, found[best], card, learned.estimates)


def _of(arrays: Arrays, half: str) -> Arrays:
    return {name: part for name, part in arrays.items() if name.startswith(f"{half}_")}


def _loss(score: Score) -> float:
    return 0.0 if math.isnan(score.loss) else score.loss


def _facts(scores: Mapping[str, Score]) -> dict[str, dict[str, float]]:
    return {
        name: {"loss": _loss(score), "wait": math.expm1(score.wait), "bsld": math.expm1(score.bsld)}
        for name, score in scores.items()
    }
