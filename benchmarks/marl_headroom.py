"""What linear rules could gain that had seen the jobs which they are measured on.

No training can know these. The same search as before PPO, on the unseen end of each history itself,
from SAF with best-fit on; and what is left of it when the same jobs come a little sooner or later,
which tells what is in the rule from what is in having tried so many schedules.

python -m benchmarks.marl_headroom           # ten minutes of one core
python -m benchmarks.marl_headroom --table   # the table of docs/results/selector-allocator.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.marl import forecast_of, kinds_of, knowledge_of
from benchmarks.marl_measures import BLOCKS
from benchmarks.marl_sites import DRAWN, SITES, open_site
from benchmarks.marl_speeds import BY_SPEED
from dovetail.agents.choice.candidates import PolicyCandidate, usual
from dovetail.agents.evolution.search import Evolution
from dovetail.agents.history import Site
from dovetail.agents.replays import (
    Contestant,
    Measured,
    ReplayCell,
    Score,
    rearranged,
    total_score,
)
from dovetail.agents.selector_allocator.linear_search import SPREAD, LinearParts
from dovetail.agents.selector_allocator.networks import PairActor
from dovetail.agents.selector_allocator.starts import ALLOCATOR_SCALE, SELECTOR_SCALE, begin_as
from dovetail.agents.selector_allocator.training import KIND
from dovetail.policies.learned.checkpoint import Checkpoint

RESULT = Path(__file__).parent / "results" / "marl_headroom.json"
JOBS, MEASURED = 30_000, 3000
"""Of a history; and the last ones, which are searched and measured on, after as many before."""

EPOCHS, POPULATION = 30, 12
JITTERS = 8
"""Replays with every gap between arrivals up to a fifth longer or shorter."""

EXACT = "exact"
ARMS = {"selector": ("selector",), "allocator": ("allocator",), "pair": ("selector", "allocator")}


def run() -> dict[str, Any]:
    found = {}
    for name in SITES:
        site = open_site(name, JOBS, 0.95)
        kinds = kinds_of(name, site)
        for kind in [*kinds, EXACT] if name == DRAWN else kinds:
            found[f"{name}, {kind}"] = measure_site(site, kind)
            print(name, kind, found[f"{name}, {kind}"], file=sys.stderr, flush=True)
    return {"epochs": EPOCHS, "population": POPULATION, "jobs": MEASURED, "cases": found}


def measure_site(site: Site, kind: str) -> dict[str, Any]:
    """Wait and slowdown of all who wait against SAF with best-fit, as logarithms of ratios."""
    rows = slice(len(site.trace) - 2 * MEASURED, len(site.trace))
    forecast = forecast_of(knowledge_of(site, kind), kind)
    cell = ReplayCell(
        site.trace.slice(rows.start, rows.stop), site.cluster,
        None if forecast is None else forecast.take(rows), MEASURED, blocks=BLOCKS,
    )  # fmt: skip
    told = usual(kind)
    start = cell.play(PolicyCandidate("saf", told, "best-fit"))
    places = [name.partition("@")[::2] for name in BY_SPEED if site.cluster.kind_speed]
    heuristics = [
        PolicyCandidate(order, told, place)
        for order, place in (
            *((o, p) for o in ("saf", "sjf", "fcfs", "lcfs") for p in ("best-fit", "lifetime")),
            ("sjf", "first-available"), ("saf", "first-available"), *places,
        )
    ]  # fmt: skip
    scores = {f"{one.order}@{one.placement}": _against(cell, one, start) for one in heuristics}
    best = min(scores, key=lambda name: scores[name]["gain"])
    cells = [replace(cell, trace=rearranged(cell.trace, 1.0, seed)) for seed in range(JITTERS)]
    saf = PolicyCandidate("saf", told, "best-fit")
    starts = [other.play(saf) for other in cells]
    learned = {}
    for arm, halves in ARMS.items():
        score, found = _searched(cell, told, start, halves)
        learned[arm] = score
        learned[f"{arm}_again"] = _score(total_score([c.play(found) for c in cells], starts))
    (of_best,) = (one for one in heuristics if f"{one.order}@{one.placement}" == best)
    again = _score(total_score([other.play(of_best) for other in cells], starts))
    return {
        "best_heuristic": best,
        "best_heuristic_again": again,
        "heuristics": scores,
        **learned,
    }


def _searched(
    cell: ReplayCell, told: str, start: Measured, halves: tuple[str, ...]
) -> tuple[dict[str, float], Checkpoint]:
    """The best that the search ever saw, and what it was."""
    torch.manual_seed(0)
    actor = PairActor()
    begin_as(actor, "saf", "best-fit", cell.cluster.total_gpus)
    scales = {"selector": SELECTOR_SCALE, "allocator": ALLOCATOR_SCALE}
    parts = LinearParts([(getattr(actor, half).skip, scales[half]) for half in halves])
    search = Evolution(parts.read(), SPREAD, POPULATION, 0)
    best, found = _score(total_score([start], [start])), _exported(actor, halves, told)
    for _ in range(EPOCHS):
        candidates = search.ask()
        losses = []
        for vector in candidates:
            parts.write(vector)
            candidate = _exported(actor, halves, told)
            score = _against(cell, candidate, start)
            losses.append(score["gain"])
            if score["gain"] < best["gain"]:
                best, found = score, candidate
        search.tell(candidates, np.array(losses))
    return best, found


def _exported(actor: PairActor, halves: tuple[str, ...], told: str) -> Checkpoint:
    arrays = {
        name: part for name, part in actor.arrays().items() if name.partition("_")[0] in halves
    }
    if "selector" not in halves:
        arrays["order"] = np.array("saf")
    if "allocator" not in halves:
        arrays["placement"] = np.array("best-fit")
    return Checkpoint(KIND, arrays, {}, told)


def _against(cell: ReplayCell, one: Contestant, start: Measured) -> dict[str, float]:
    return _score(total_score([cell.play(one)], [start]))


def _score(score: Score) -> dict[str, float]:
    return {"gain": score.gain, "wait": score.wait, "bsld": score.bsld}


def lines(result: dict[str, Any]) -> Iterator[str]:
    yield (
        "| history | best heuristic pair | the same, arrivals a little other | the allocator | "
        "arrivals a little other | the selector | arrivals a little other | both | arrivals a "
        "little other |"
    )
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for case, found in result["cases"].items():
        best = found["best_heuristic"]
        cells = [f"{best}: {_change(found['heuristics'][best])}"]
        cells.append(_change(found["best_heuristic_again"]))
        for arm in ("allocator", "selector", "pair"):
            cells += [_change(found[arm]), _change(found[f"{arm}_again"])]
        yield f"| {case} | {' | '.join(cells)} |"


def _change(score: dict[str, float]) -> str:
    texts = (f"{100 * np.expm1(score[name]):+.0f}" for name in ("wait", "bsld"))
    return "; ".join(texts).replace("-", "−")


def main() -> None:
    if "--table" not in sys.argv[1:]:
        torch.set_num_threads(1)
        RESULT.write_text(json.dumps(run(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print("\n".join(lines(json.loads(RESULT.read_text(encoding="utf-8")))))


if __name__ == "__main__":
    main()
