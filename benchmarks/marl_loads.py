"""From calm to bursty: the partition of thirty nodes at three loads, by three kinds of arrivals.

The nine baselines, SAF, F1, Slurm's order, `dovetail`, the choice of `benchmarks.marl`, and the
pairs that it trained at load 0.95, where they are kept; none is trained anew. Played is the unseen
end of each history, after as many jobs from before it.

python -m benchmarks.marl_loads              # a few minutes of one core
python -m benchmarks.marl_loads --table      # the table of docs/results/selector-allocator.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.marl import (
    MODELS,
    NINE,
    OTHERS,
    SECONDS,
    choice_of,
    contestants,
    forecast_of,
    knowledge_of,
)
from benchmarks.marl_measures import BLOCKS, QUEUE, Told, most_utilisation, ratio_over_seeds
from benchmarks.marl_sites import DRAWN, DRAWN_JOBS, open_site
from benchmarks.workloads import REAL
from dovetail.agents.charges import charge_blocks
from dovetail.agents.choice.cells import open_history
from dovetail.agents.history import Site
from dovetail.domain.jobs import Floats
from dovetail.domain.trace import Trace
from dovetail.evaluation.report.charts import busy_share
from dovetail.evaluation.run import Run
from dovetail.evaluation.unseen import Draws, kinds_known
from dovetail.traces.synthetic import offered_load

RESULT = Path(__file__).parent / "results" / "marl_loads.json"
JOBS = 30_000
LOADS = (0.7, 0.95, 1.2)
MEASURED = 3000
"""The last jobs, a tenth of a history, which no training reads; as many come before them."""

DRAWS = 5
"""Ways in which arrivals are drawn; recorded gaps are each up to a fifth longer or shorter."""

BUNCH = 50
"""Jobs that arrive in one instant where arrivals are bunched, in the mean (geometric)."""

JITTER = 0.2
PAIR, BEST = "the pairs", "best of nine"
SAF, FIRST = "saf@best-fit", "fcfs@first-available"


def recorded(gaps: Floats, random: np.random.Generator) -> Floats:
    """As they were: days and nights, deadlines, scripts that submit hundreds."""
    return gaps * random.uniform(1.0 - JITTER, 1.0 + JITTER, len(gaps))


def poisson(gaps: Floats, random: np.random.Generator) -> Floats:
    """One by one, at any time alike."""
    return random.exponential(1.0, len(gaps))


def bunched(gaps: Floats, random: np.random.Generator) -> Floats:
    """Many in one instant, at any time alike."""
    return random.exponential(1.0, len(gaps)) * (random.random(len(gaps)) < 1.0 / BUNCH)


ARRIVALS: dict[str, Callable[[Floats, np.random.Generator], Floats]] = {
    "poisson": poisson,
    "recorded": recorded,
    "bunched": bunched,
}


def run() -> dict[str, Any]:
    found = {}
    for name in (*REAL, DRAWN):
        site = open_site(name, DRAWN_JOBS if name == DRAWN else JOBS, 0.95)
        for kind in kinds_known(site.trace):
            found[f"{name}, {kind}"] = measure_site(name, kind, site)
    return {"jobs": MEASURED, "draws": DRAWS, "bunch": BUNCH, "cases": found}


def measure_site(name: str, kind: str, site: Site) -> dict[str, Any]:
    knowledge = knowledge_of(site, kind)
    draws = Draws(site.trace, kind, 0, 1, knowledge)
    history = open_history(site, kind, forecast_of(knowledge, kind))
    chosen = choice_of(name, kind, history)
    trained = {
        path.parent.name: path.parent
        for path in sorted((MODELS / name / kind).glob(f"pair-*/{SECONDS}"))
    }
    told = {
        policy: one
        for policy, one in contestants(draws, chosen, trained).items()
        if not policy.startswith("written-")
    }
    cells = {}
    for arrivals in ARRIVALS:
        for load in LOADS:
            cells[f"{arrivals}, {load:g}"] = _cell(site, told, arrivals, load)
            print(name, kind, arrivals, load, file=sys.stderr, flush=True)
    return {"choice": chosen, "pairs": len(trained), "cells": cells}


def _cell(site: Site, told: dict[str, Told], arrivals: str, load: float) -> dict[str, Any]:
    """Each policy's charges and utilisation, and ratios with what chance leaves open."""
    parts = [arranged(site, arrivals, load, seed) for seed in range(DRAWS)]
    played = {name: _play(site, one, parts) for name, one in told.items()}
    rows = {
        name: {"utilisation": used} | dict(zip(QUEUE, blocks.mean(axis=1).tolist(), strict=True))
        for name, (used, blocks) in played.items()
    }
    best = min(NINE, key=lambda name: rows[name]["queue_bsld"])
    pairs = [blocks for name, (_, blocks) in played.items() if name.startswith("pair-")]
    ours = {name: played[name][1][None] for name in ("choice", *OTHERS)}
    if pairs:
        ours[PAIR] = np.stack(pairs)
    against = {
        name: {
            rival: {
                metric: ratio_over_seeds(blocks[:, at], played[other][1][at])
                for at, metric in enumerate(QUEUE)
            }
            for rival, other in ((BEST, best), (SAF, SAF), ("choice", "choice"))
        }
        for name, blocks in ours.items()
    }
    gaps = np.concatenate([np.diff(part.jobs.submit[-MEASURED:]) for part in parts])
    return {
        "variation_of_gaps": float(gaps.std() / gaps.mean()),
        "best_of_nine": best,
        "rows": rows,
        "against": against,
        "most_utilisation": np.mean(
            [most_utilisation(part, site.cluster.total_gpus) for part in parts]
        ).item(),
    }


def arranged(site: Site, arrivals: str, load: float, seed: int) -> Trace:
    """The last jobs of a history with other gaps, which make exactly this load."""
    part = site.trace.slice(max(0, len(site.trace) - 2 * MEASURED), len(site.trace))
    jobs = part.jobs
    random = np.random.default_rng((seed, len(arrivals)))
    gaps = ARRIVALS[arrivals](np.diff(jobs.submit, prepend=jobs.submit[:1]), random)
    gaps *= (jobs.submit[-1] - jobs.submit[0]) / gaps.sum()
    moved = replace(jobs, submit=jobs.submit[0] + np.cumsum(gaps))
    gaps *= offered_load(moved, site.cluster.total_gpus) / load
    return Trace(replace(jobs, submit=jobs.submit[0] + np.cumsum(gaps)), f"{arrivals} at {load:g}")


def _play(site: Site, one: Told, parts: list[Trace]) -> tuple[float, Floats]:
    """Utilisation from the first job on, and blocks [metrics, blocks] of what is charged."""
    used, blocks = [], []
    for part in parts:
        first = len(part) - MEASURED
        estimates = one.estimates.take(slice(len(site.trace) - len(part), len(site.trace)))
        schedule = Run(part, site.cluster, one.policy, estimates).replay()
        used.append(float(busy_share(schedule, part.jobs.submit[[0, -1]])[0]))
        blocks.append(charge_blocks(schedule, first, BLOCKS))
    return float(np.mean(used)), np.mean(blocks, axis=0)


def lines(result: dict[str, Any]) -> Iterator[str]:
    """One row for each kind of arrivals and load, over all cases."""
    cases = result["cases"].values()
    ours = (("choice", BEST), ("choice", SAF), ("dovetail", BEST), (PAIR, "choice"))
    heads = [f"{name} against {rival}" for name, rival in ours]
    uses = ("use: FCFS, first-available", "SAF, best-fit", "the choice", "no schedule above")
    yield f"| arrivals, load | gaps vary by | {' | '.join((*heads, *uses))} |"
    yield f"| --- |{' ---: |' * (1 + len(ours) + len(uses))}"
    for cell in (f"{arrivals}, {load:g}" for arrivals in ARRIVALS for load in LOADS):
        found = [case["cells"][cell] for case in cases]
        varies = [one["variation_of_gaps"] for one in found]
        shares = [_used(found, name) for name in (FIRST, SAF, "choice")]
        shares.append([one["most_utilisation"] for one in found])
        texts = [_changes(found, *pair) for pair in ours]
        texts += [f"{100 * np.mean(part):.1f} %" if part else "" for part in shares]
        yield f"| {cell} | {min(varies):.1f} to {max(varies):.1f} | {' | '.join(texts)} |"


def _used(cells: list[dict[str, Any]], name: str) -> list[float]:
    """Of every policy whose name begins so."""
    return [
        row["utilisation"]
        for cell in cells
        for policy, row in cell["rows"].items()
        if policy.startswith(name)
    ]


def _changes(cells: list[dict[str, Any]], name: str, rival: str) -> str:
    """Wait and slowdown in per cent: the geometric mean over cases, from the least to the most."""
    against = [cell["against"][name][rival] for cell in cells if name in cell["against"]]
    texts = []
    for metric in QUEUE if against else ():
        logs = np.log([ratios[metric]["value"] for ratios in against])
        mean, least, most = (100 * np.expm1(part) for part in (logs.mean(), logs.min(), logs.max()))
        texts.append(f"{mean:+.0f} ({least:+.0f} to {most:+.0f})".replace("-", "−"))
    return "; ".join(texts)


def main() -> None:
    if "--table" not in sys.argv[1:]:
        RESULT.write_text(json.dumps(run(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print("\n".join(lines(json.loads(RESULT.read_text(encoding="utf-8")))))


if __name__ == "__main__":
    main()
