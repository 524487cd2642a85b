"""How well run times are predicted on real traces, and what schedules the predictions make.

python -m benchmarks.run prediction
python -m benchmarks.prediction          # the tables from the result

Predictions are scored on the last four fifths of each trace and on its last tenth; schedules are
measured on the last tenth, each order having replayed the whole trace.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workloads import folder
from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import TraceError
from dovetail.domain.estimates import Estimates
from dovetail.domain.trace import Trace
from dovetail.evaluation.run import Run
from dovetail.evaluation.standing import measure
from dovetail.evaluation.unseen import first_unseen
from dovetail.policies.policy import Policy
from dovetail.prediction import predict
from dovetail.prediction.distribution import Distribution
from dovetail.prediction.estimates import estimates_from, make_estimates
from dovetail.prediction.request import Request
from dovetail.prediction.score import score
from dovetail.traces.read import read_trace

RESULT = Path(__file__).parent / "results" / "prediction.json"


class Site(NamedTuple):
    """A trace, the rows of it that are used, and the cluster that they are replayed on."""

    file: str
    cluster: str
    rows: tuple[int, int] = (0, 1_000_000)


SITES = {
    "kth": Site("pwa_kth_sp2_1996.parquet", "100x1"),
    "mit": Site("mit_supercloud_sample.parquet", ""),  # arrivals say nothing there
    "lanl": Site("pwa_lanl_cm5_1994.parquet", "128x8"),
    "ricc": Site("pwa_ricc_2010.parquet", "1024x8", (75_000, 150_000)),
    "pai": Site("pai2020_sample.parquet", "80x8"),
    "venus": Site("helios_venus.parquet", "80x8"),
    "philly": Site("philly_full.parquet", "220x8"),
}
COMPARED = ("median", "history", "mixture")
"""`boosted` is a part of the mixture."""

ORDERS = ("saf", "f1", "sjf", "slurm-multifactor")
SUMMARIES = (("log-mean", "q80"), ("log-mean", "log-mean"), ("mean", "q80"), ("gittins", "q80"))
"""For the order and for reservations, of the mixture's distributions."""


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
        forecasts, scores = _predict(trace)
        found[name] = {"jobs": len(trace), "scores": scores}
        if site.cluster:
            found[name]["schedules"] = _schedules(trace, site.cluster, forecasts)
    if not found:
        raise SystemExit("no real traces at hand: name their folder in DOVETAIL_TRACES")
    return {"traces": found}


def _predict(trace: Trace) -> tuple[dict[str, Distribution], list[dict[str, Any]]]:
    forecasts, scores = {}, []
    for name in COMPARED:
        predict(trace.jobs.take(slice(0, 500)), name)  # compiles
        began = time.process_time()
        forecasts[name] = predict(trace.jobs, name)
        taken = time.process_time() - began
        for part, first in (("last 80 %", len(trace) // 5), ("last 10 %", first_unseen(trace))):
            rows = slice(first, len(trace))
            figures = asdict(score(forecasts[name].take(rows), trace.jobs.run[rows]))
            scores.append(
                {"predictor": name, "part": part, "ms_per_job": 1e3 * taken / len(trace), **figures}
            )
    return forecasts, scores


def _schedules(
    trace: Trace, cluster: str, forecasts: dict[str, Distribution]
) -> list[dict[str, Any]]:
    site, first, rows = Cluster.parse(cluster), first_unseen(trace), []
    for estimates in _kinds(trace, forecasts):
        for order in ORDERS:
            schedule = Run(trace, site, Policy(order), estimates).replay()
            late = np.flatnonzero(schedule.ran & (np.arange(len(trace)) >= first))
            wait, _, bsld = measure(schedule, late).mean(axis=1).tolist()
            rows.append({"estimates": estimates.name, "order": order, "wait": wait, "bsld": bsld})
    return rows


def _kinds(trace: Trace, forecasts: dict[str, Distribution]) -> list[Estimates]:
    kinds = [make_estimates(trace, "exact")]
    with suppress(TraceError):  # a trace without limits
        kinds.append(make_estimates(trace, "limit"))
    asked = ["predicted:median,order=median,reserve=median"]
    asked += [f"predicted:mixture,order={order},reserve={reserve}" for order, reserve in SUMMARIES]
    for spec in asked:
        request = Request.parse(spec)
        kinds.append(estimates_from(forecasts[request.predictor], request))
    return kinds


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
    lines += [
        "",
        f"| trace | estimates | {' | '.join(ORDERS)} |",
        "|---|---|" + "---|" * len(ORDERS),
    ]
    for name, found in result["traces"].items():
        rows = found.get("schedules", [])
        for told in dict.fromkeys(row["estimates"] for row in rows):
            cells = [
                f"{row['wait']:,.0f} · {row['bsld']:.1f}"
                for row in rows
                if row["estimates"] == told
            ]
            lines.append(f"| {name} | {told} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(tables(json.loads(RESULT.read_text(encoding="utf-8"))))
