"""How well run times are predicted on real traces that know their users.

python -m benchmarks.run prediction
python -m benchmarks.prediction          # the table from the result

Predictions are scored on the last four fifths of each trace and on its last tenth. What schedules
they make is measured by `benchmarks.rltune`, beside limits and exact run times.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workloads import folder
from dovetail.compiled.functions import kernel
from dovetail.domain.trace import Trace
from dovetail.evaluation.unseen import first_unseen
from dovetail.prediction import predict
from dovetail.prediction.boosted import Refits, fit, seen_by_trees
from dovetail.prediction.observed import log_runs, logs_of
from dovetail.prediction.recent import predict_by_history
from dovetail.prediction.score import score
from dovetail.prediction.timeline import timeline_of
from dovetail.prediction.trees import walk_trees
from dovetail.traces.reader import read_trace

RESULT = Path(__file__).parent / "results" / "prediction.json"


class Recorded(NamedTuple):
    """A trace, and the rows of it that are used."""

    file: str
    rows: tuple[int, int] = (0, 1_000_000)


SITES = {
    "kth": Recorded("pwa_kth_sp2_1996.parquet"),
    "mit": Recorded("mit_supercloud_sample.parquet"),
    "lanl": Recorded("pwa_lanl_cm5_1994.parquet"),
    "ricc": Recorded("pwa_ricc_2010.parquet", (75_000, 150_000)),
}
COMPARED = ("median", "history", "mixture")
"""`boosted` is a part of the mixture."""


def run() -> dict[str, Any]:
    found = {}
    for name, site in SITES.items():
        path = folder() / site.file
        if not path.exists():
            continue
        trace = read_trace(path, repair=("all",))
        trace = Trace(trace.jobs.take(trace.jobs.gpus > 0), trace.name, trace.notes)
        trace = trace.slice(site.rows[0], min(site.rows[1], len(trace)))
        print(f"{name}: {len(trace):,} jobs", file=sys.stderr, flush=True)
        found[name] = {"jobs": len(trace), "scores": _predict(trace), "walk": _walk(trace)}
    if not found:
        raise SystemExit("no real traces at hand: name their folder in DOVETAIL_TRACES")
    return {"traces": found}


def _predict(trace: Trace) -> list[dict[str, Any]]:
    scores = []
    for name in COMPARED:
        predict(trace.jobs.take(slice(0, 500)), name)  # compiles
        began = time.process_time()
        forecast = predict(trace.jobs, name)
        taken = time.process_time() - began
        for part, first in (("last 80 %", len(trace) // 5), ("last 10 %", first_unseen(trace))):
            rows = slice(first, len(trace))
            figures = asdict(score(forecast.take(rows), trace.jobs.run[rows]))
            scores.append(
                {"predictor": name, "part": part, "ms_per_job": 1e3 * taken / len(trace), **figures}
            )
    return scores


def _walk(trace: Trace) -> dict[str, float]:
    """Microseconds of processor time that the trees of one fit take for a job, 11 quantiles and
    both means: many jobs together, and one after the other as they come, both within a kernel."""
    plan, timeline = Refits(), timeline_of(trace.jobs)
    history = logs_of(predict_by_history(trace.jobs, timeline))
    table = seen_by_trees(trace.jobs, timeline, history).table
    forest = fit(table, log_runs(trace.jobs), timeline.by_end[: len(table) // 2], plan)
    rows = np.ascontiguousarray(table[len(table) // 2 :][:20_000])
    parts = forest.column, forest.cut, forest.leaf, forest.base
    found = {}
    for name, walk in (("together", walk_trees), ("one_by_one", _one_by_one)):
        walk(rows[:10], *parts)  # compiles
        taken = []
        for _ in range(5):
            began = time.process_time()
            walk(rows, *parts)
            taken.append(time.process_time() - began)
        found[f"{name}_us"] = round(1e6 * min(taken) / len(rows), 3)
    return found


@kernel
def _one_by_one(rows: Any, column: Any, cut: Any, leaf: Any, base: Any) -> float:
    total = 0.0
    for i in range(len(rows)):
        total += walk_trees(rows[i : i + 1], column, cut, leaf, base)[0, 0]
    return total


def tables(result: dict[str, Any]) -> str:
    """The result as Markdown."""
    lines = [
        "| trace | part | predictor | pinball | median's | within 2x | 80 % holds | rank | ms |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, found in result["traces"].items():
        for row in found["scores"]:
            lines.append(
                f"| {name} | {row['part']} | {row['predictor']} | {row['pinball']:.3f} | "
                f"{row['pinball_median']:.3f} | {row['within_twofold']:.1%} | "
                f"{row['coverage']:.1%} | {row['rank_correlation']:.2f} | {row['ms_per_job']:.2f} |"
            )
    lines += ["", "| trace | trees: µs per job, together | one by one |", "|---|---|---|"]
    for name, found in result["traces"].items():
        if "walk" in found:
            walk = found["walk"]
            lines.append(f"| {name} | {walk['together_us']:.2f} | {walk['one_by_one_us']:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(tables(json.loads(RESULT.read_text(encoding="utf-8"))))
