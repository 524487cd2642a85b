"""Orders against SAF on weeks from all over real traces, under predictions and under limits.

python -m benchmarks.run orders
python -m benchmarks.orders          # the table from the result

The weeks are those that `dovetail train` chooses on: all but the last tenth of each trace. Below 0
is better than SAF, in the logarithm; the error is that of a mean over weeks and loads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rltune import WORKLOADS, knowledge_of, known_part, open_site
from benchmarks.rltune_arms import say
from dovetail.agents.choice.candidates import PolicyCandidate, reference
from dovetail.agents.choice.cells import CellConfig, choice_cells
from dovetail.agents.replays import ReplayCell, Score
from dovetail.domain.errors import TraceError

RESULT = Path(__file__).parent / "results" / "orders.json"
ORDERS = ("saf-1.5", "saf-2", "sjf", "f1", "qssf", "fcfs")
KNOWLEDGE = ("predicted", "limit")


def run() -> dict[str, Any]:
    cells = []
    for name in WORKLOADS:
        site = open_site(name)
        history = known_part(site, knowledge_of(site))
        for kind in KNOWLEDGE:
            say(f"{name}: {kind}")
            try:
                rows = measure(list(choice_cells(history, CellConfig(kind))), kind)
            except TraceError:
                continue  # this trace has no limits
            cells.append({"trace": name, "estimates": kind, "rows": rows})
    return {"cells": cells}


def measure(cells: Sequence[ReplayCell], kind: str) -> list[dict[str, Any]]:
    """Every order against SAF on the same cells."""
    saf = reference(kind)
    rivals = [cell.play(saf) for cell in cells]
    found = []
    for order in ORDERS:
        one = PolicyCandidate(order, saf.estimates, saf.placement)
        scores = [cell.play(one).against(rival) for cell, rival in zip(cells, rivals, strict=True)]
        found.append({"order": order, **_figures(scores)})
    return found


def _figures(scores: Sequence[Score]) -> dict[str, float]:
    known = np.array([(one.wait, one.bsld) for one in scores if not math.isnan(one.wait)])
    error = known.std(axis=0) / math.sqrt(max(1, len(known) - 1))
    wait, bsld = known.mean(axis=0).tolist()
    return {
        "cells": len(known),
        "wait": wait,
        "wait_error": float(error[0]),
        "bsld": bsld,
        "bsld_error": float(error[1]),
    }


def table(result: dict[str, Any]) -> list[str]:
    """A line for each trace and kind of knowledge: wait and bounded slowdown of every order."""
    lines = [f"| trace, estimates | {' | '.join(ORDERS)} |", "| --- |" + " ---: |" * len(ORDERS)]
    for cell in result["cells"]:
        shown = [
            f"{row['wait']:+.2f} ± {row['wait_error']:.2f} / "
            f"{row['bsld']:+.2f} ± {row['bsld_error']:.2f}"
            for row in cell["rows"]
        ]
        lines.append(f"| {cell['trace']}, {cell['estimates']} | {' | '.join(shown)} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table(json.loads(RESULT.read_text(encoding="utf-8")))))
