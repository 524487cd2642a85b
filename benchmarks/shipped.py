"""The shipped policy: how it is made, and how it stands to heuristics on real traces.

python -m benchmarks.shipped train    # into src/dovetail/policies/learned/shipped; a quarter hour
python -m benchmarks.run shipped      # on the last tenths, under what clusters know
python -m benchmarks.shipped ricc     # one trace only
python -m benchmarks.shipped          # the table from the result

It is what `dovetail train --agent choice` finds on six histories, each on its own cluster.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.rltune import (
    HEURISTICS,
    MEDIAN,
    WORKLOADS,
    knowledge_of,
    known_part,
    open_site,
    standings,
)
from benchmarks.rltune_arms import MODELS, say
from benchmarks.rltune_tables import change, figures
from dovetail.agents.catalogue import ChoiceConfig
from dovetail.agents.training import train
from dovetail.domain.errors import TraceError
from dovetail.evaluation.unseen import Draws
from dovetail.policies.learned.checkpoint import load_checkpoint
from dovetail.policies.ordering import SHIPPED_NAME
from dovetail.policies.policy import SHIPPED, Policy

RESULT = Path(__file__).parent / "results" / "shipped.json"
SEED = 1
KNOWLEDGE = {"predicted": HEURISTICS, MEDIAN: ("saf",), "exact": ("saf",), "limit": HEURISTICS}
"""Kinds of estimates, and who is measured under them beside the shipped policy."""


def make() -> None:
    """Choose over several sites, and put what was chosen where the package has it."""
    sites = [open_site(name) for name in WORKLOADS]
    histories = [known_part(site, knowledge_of(site)) for site in sites]
    folder = MODELS / "shipped"
    found = train("choice", None, sites, folder, ChoiceConfig(), say, histories=histories)
    for file in folder.iterdir():
        if file.is_file():
            shutil.copyfile(file, SHIPPED / file.name)
    say(json.dumps(found.card["choice"], indent=1))


def run(traces: Iterable[str] = WORKLOADS) -> dict[str, Any]:
    """Every trace and kind of estimates is written as it is finished, and not measured again."""
    cells = _kept()
    for name in traces:
        site = open_site(name)
        missing = [kind for kind in KNOWLEDGE if not any(_is(cell, name, kind) for cell in cells)]
        knowledge = knowledge_of(site) if missing else None
        for kind in missing:
            try:
                draws = Draws(site.trace, kind, SEED, 1, knowledge)
                policies = {order: Policy(order) for order in (SHIPPED_NAME, *KNOWLEDGE[kind])}
                cell = standings(site, policies, draws)
            except TraceError:
                continue  # this trace has no limits
            about = {"trace": name, "cluster": site.cluster.name, "estimates": kind}
            cells.append({**about, "shipped": _shipped(), **cell})
            RESULT.write_text(json.dumps({"cells": cells}, indent=1), encoding="utf-8")
    return {"cells": cells}


def _kept() -> list[dict[str, Any]]:
    """Of the policy that is shipped now; of another one, nothing."""
    if not RESULT.exists():
        return []
    kept = json.loads(RESULT.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in kept if cell.get("shipped") == _shipped()]


def _shipped() -> str:
    """The order that is shipped, and what of a prediction it goes by."""
    shipped = load_checkpoint(SHIPPED)
    return f"{shipped.arrays.get('order', shipped.kind)} {shipped.estimates}"


def _is(cell: dict[str, Any], name: str, kind: str) -> bool:
    return (cell["trace"], cell["estimates"]) == (name, kind)


def table(result: dict[str, Any]) -> list[str]:
    """Per trace and kind of estimates: the shipped policy beside the strongest orderings."""
    lines = [
        "| trace, estimates | dovetail: wait / bsld | slurm-multifactor | saf | best by wait "
        "| dovetail against it | best by bsld | dovetail against it |",
        "| --- |" + " ---: |" * 7,
    ]
    for cell in result["cells"]:
        if cell["estimates"] not in ("predicted", "limit"):
            continue
        rows = {row["policy"]: row for row in cell["rows"]}
        heuristics = [row for name, row in rows.items() if name != SHIPPED_NAME]
        best = {m: min(heuristics, key=lambda row: row[m]) for m in ("wait", "bsld")}
        shown = [
            f"{cell['trace']}, {cell['estimates']}",
            figures(rows[SHIPPED_NAME]),
            figures(rows["slurm-multifactor"]),
            figures(rows["saf"]),
        ]
        for measure, row in best.items():
            shown += [f"{row['policy']}: {figures(row)}", change(row[f"{measure}_ratio"])]
        lines.append("| " + " | ".join(shown) + " |")
    return lines


if __name__ == "__main__":
    if sys.argv[1:] == ["train"]:
        make()
    elif sys.argv[1:]:
        run(sys.argv[1].split(","))
    else:
        print("\n".join(table(json.loads(RESULT.read_text(encoding="utf-8")))))
