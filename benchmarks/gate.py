"""How often a gate lets through what is worse afterwards, with heuristics as what was learned.

On each history every pair of heuristics is judged on many parts, and then measured on the jobs that
follow. The gate before asked for a mean lead of 0.1 over four blocks of a ninth of what is known.

python -m benchmarks.gate            # writes benchmarks/results/gate.json
"""

from __future__ import annotations

import json
import math
import sys
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.marl_sites import SITES, open_site
from dovetail.agents.choice.cells import BLOCK_JOBS
from dovetail.agents.evidence import weigh_blocks
from dovetail.agents.gate import GateVerdict
from dovetail.agents.replays import AHEAD, CALM, Measured
from dovetail.domain.jobs import Floats
from dovetail.domain.metrics import bounded_slowdown
from dovetail.evaluation.run import Run
from dovetail.evaluation.unseen import Draws
from dovetail.policies.policy import Policy

JOBS, LOAD = 30_000, 0.95
POLICIES = tuple(
    f"{order}@{place}"
    for order, place in product(
        ("saf", "saf-2", "sjf", "wfp3", "fcfs", "lcfs"), ("best-fit", "first-available")
    )
)
LENGTHS = (4_000, 15_000, 30_000)
"""Of histories that are cut out of the long one."""

OLD_BLOCKS = 4
MUCH = math.log(1.2)


def run() -> dict[str, Any]:
    """Of each length: how many pairs each gate lets through, and how many of these are worse."""
    counts: dict[int, dict[str, Any]] = {
        length: {"before": [0, 0, 0], "now": [0, 0, 0], "pairs": 0} for length in LENGTHS
    }
    for name in SITES:
        made = _replays(name)
        for length in LENGTHS:
            _count(made, length, counts[length])
        print(name, counts, file=sys.stderr, flush=True)
    words = ("passed", "then_worse", "then_a_fifth_worse")
    return {
        "jobs": JOBS,
        "policies": POLICIES,
        "lengths": {
            str(length): {
                "pairs": found["pairs"],
                **{rule: dict(zip(words, found[rule], strict=True)) for rule in ("before", "now")},
            }
            for length, found in counts.items()
        },
    }


def _replays(name: str) -> dict[str, Floats]:
    """Wait and bounded slowdown of every job: [2, jobs]; by limits or medians of alike jobs."""
    site = open_site(name, JOBS, LOAD)
    draws = Draws(site.trace, "predicted:median", 0, 1)
    found = {}
    for text in POLICIES:
        policy = Policy.parse(text)
        done = Run(site.trace, site.cluster, policy, draws.of(policy)[0]).replay()
        values = np.stack((done.wait, bounded_slowdown(done.wait, done.run)))
        found[text] = values[:, done.ran]
    return found


def _count(made: dict[str, Floats], length: int, counts: dict[str, Any]) -> None:
    jobs = min(values.shape[1] for values in made.values())
    tenth = length // 10
    for end in range(length, jobs + 1, max(tenth, (JOBS - length) // 8 or 1)):
        unseen = slice(end - tenth, end)
        old = slice(end - 2 * tenth, end - tenth)
        held = slice(end - 3 * tenth, end - tenth)
        for ours, theirs in permutations(made.values(), 2):
            counts["pairs"] += 1
            after = weigh_blocks([([_measured(ours, unseen, 1)], [_measured(theirs, unseen, 1)])])
            worse = after.total.gain
            blocks = max(1, 2 * tenth // BLOCK_JOBS)
            now = weigh_blocks(
                [([_measured(ours, held, blocks)], [_measured(theirs, held, blocks)])]
            )
            before = _measured(ours, old, OLD_BLOCKS).against(_measured(theirs, old, OLD_BLOCKS))
            for rule, passed in (
                ("before", before.gain <= -AHEAD),
                ("now", GateVerdict(now).passed),
            ):
                for at, true in enumerate((True, worse > 0.0, worse > MUCH)):
                    counts[rule][at] += int(passed and true)


def _measured(values: Floats, rows: slice, blocks: int) -> Measured:
    parts = np.array_split(values[:, rows], blocks, axis=1)
    means = np.stack([part.mean(axis=1) for part in parts], axis=1)
    return Measured(np.log(means + np.array([[CALM], [0.0]])), np.full(5, np.nan))


if __name__ == "__main__":
    path = Path(__file__).parent / "results" / "gate.json"
    path.write_text(json.dumps(run(), indent=1) + "\n", encoding="utf-8")
