"""The shipped policy against every ordering on the last tenth of real traces; nothing is trained.

python -m benchmarks.run shipped
python -m benchmarks.shipped          # the tables from the result
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rltune import row_of
from benchmarks.rltune_tables import change, figures
from benchmarks.workloads import REAL, cluster, folder, real_traces
from dovetail.domain.cluster import Cluster
from dovetail.domain.trace import Trace
from dovetail.evaluation.unseen import Draws, evaluate_unseen
from dovetail.policies.ordering import ORDERINGS, SHIPPED_NAME
from dovetail.policies.policy import Policy
from dovetail.traces.read import read_trace

RESULT = Path(__file__).parent / "results" / "shipped.json"
SEED = 1
KNOWLEDGE = {"predicted": 1, "limit": 1, "noisy:1": 3}
"""Kinds of estimates, and draws of each: the first two are what clusters have."""


def run() -> dict[str, Any]:
    sites = _sites()
    if not sites:
        raise SystemExit("no real traces at hand: name their folder in DOVETAIL_TRACES")
    policies = [Policy(SHIPPED_NAME), *map(Policy, ORDERINGS), Policy("saf", placement="lifetime")]
    cells = []
    for name, (trace, site) in sites.items():
        for estimates, draws in KNOWLEDGE.items():
            if estimates == "limit" and np.isnan(trace.jobs.limit).any():
                continue  # this trace has no limits
            print(f"{name}, {estimates}", file=sys.stderr, flush=True)
            given = Draws(trace, estimates, SEED, draws)
            found = evaluate_unseen(trace, site, policies, given)
            cells.append(
                {
                    "trace": name,
                    "cluster": site.name,
                    "estimates": estimates,
                    "draws": draws,
                    "unseen_jobs": found.jobs,
                    "rows": [row_of(standing) for standing in found.rows],
                }
            )
    return {"cells": cells}


def _sites() -> dict[str, tuple[Trace, Cluster]]:
    """Traces on their reference clusters; KTH, which has limits and users, on its own."""
    sites = {name: (trace, cluster(REAL[name][1])) for name, trace in real_traces().items()}
    kth = folder() / "pwa_kth_sp2_1996.parquet"
    if kth.exists():
        sites["kth"] = (read_trace(kth), Cluster.parse("100x1"))
    return sites


def table(result: dict[str, Any]) -> list[str]:
    """Per trace and kind of estimates: the shipped policy beside the strongest orderings."""
    lines = [
        "| trace, estimates | dovetail: wait / bsld | slurm-multifactor | saf | best by wait "
        "| dovetail against it | best by bsld | dovetail against it |",
        "| --- |" + " ---: |" * 7,
    ]
    for cell in result["cells"]:
        rows = {row["policy"]: row for row in cell["rows"]}
        heuristics = [row for name, row in rows.items() if not name.startswith(SHIPPED_NAME)]
        best = {m: min(heuristics, key=lambda row: row[m]) for m in ("wait", "bsld")}
        shown = [
            f"{cell['trace']}, {cell['estimates']}",
            figures(rows[f"{SHIPPED_NAME}+easy"]),
            figures(rows["slurm-multifactor+easy"]),
            figures(rows["saf+easy"]),
        ]
        for measure, row in best.items():
            shown += [f"{row['policy']}: {figures(row)}", change(row[f"{measure}_ratio"])]
        lines.append("| " + " | ".join(shown) + " |")
    return lines


if __name__ == "__main__":
    print("\n".join(table(json.loads(RESULT.read_text(encoding="utf-8")))))
