"""What choosing and learning add on the unseen tenth of real traces: `make bench-rltune`.

For each trace the steps of a training apart: the hand-set index, the choice, evolution from it,
PPO as published and PPO with a dense reward, each with the gate's verdict. All are measured on the
last tenth beside the heuristics, under predicted run times; the choice and the heuristics under
limits, the plain median and exact run times, too. Each trace is a part of the result, written as
it is finished. Predictions and trainings are kept in benchmarks/models/: what is finished is not
repeated, and Ctrl-C loses one training or replay at most.

python -m benchmarks.run rltune                # all of it
python -m benchmarks.rltune kth,pai choice     # some traces, some arms
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.forecasts import stored_forecast
from benchmarks.rltune_arms import ARMS, SEEDS, hand_set, say, train_arm, ungated
from benchmarks.workloads import folder
from dovetail.agents.choice.cells import SiteHistory, open_history
from dovetail.agents.history import Site
from dovetail.domain.cluster import Cluster
from dovetail.domain.errors import TraceError
from dovetail.evaluation.standing import Standing
from dovetail.evaluation.unseen import Draws, evaluate_unseen, who_pays
from dovetail.policies.learned.checkpoint import load_checkpoint
from dovetail.policies.policy import Policy
from dovetail.prediction.knowledge import Knowledge
from dovetail.traces.reader import read_trace

RESULT = Path(__file__).parent / "results" / "rltune.json"
HEURISTICS = ("saf", "sjf", "f1", "qssf", "slurm-multifactor", "fcfs")
MEDIAN = "predicted:median,order=median,reserve=median"
"""What the plain median of alike jobs says, for the order and for reservations."""

OTHERS = {MEDIAN: ("saf",), "exact": ("saf", "f1"), "limit": HEURISTICS}
"""Other kinds of knowledge, and who is measured under them beside the choice."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A trace, the cluster that it is replayed on, and the rows of it that are used."""

    file: str
    cluster: str
    rows: tuple[int, int] | None = None  # None: all of them


WORKLOADS = {
    "kth": Workload("pwa_kth_sp2_1996", "100x1"),
    "pai": Workload("pai2020_sample", "80x8"),
    "venus": Workload("helios_venus", "80x8"),
    "philly": Workload("philly_full", "220x8"),
    "lanl": Workload("pwa_lanl_cm5_1994", "128x8"),
    "ricc": Workload("pwa_ricc_2010", "1024x8", (75_000, 150_000)),
}


def run(
    traces: Iterable[str] = WORKLOADS, arms: Iterable[str] = ARMS, seeds: int = SEEDS
) -> dict[str, Any]:
    """Measure what is missing; the result holds all traces that were ever measured."""
    for name in traces:
        if _finished(name, tuple(arms), seeds):
            continue
        began = time.perf_counter()
        for found in measure_trace(open_site(name), tuple(arms), seeds):
            _keep(name, found)
        say(f"{name}: measured in {time.perf_counter() - began:.0f} s")
    return _kept()


def open_site(name: str) -> Site:
    return open_workload(WORKLOADS[name])


def open_workload(workload: Workload) -> Site:
    trace = read_trace(folder() / f"{workload.file}.parquet", repair=("all",))
    if workload.rows is not None:
        trace = trace.slice(*workload.rows)
    return Site(trace, Cluster.parse(workload.cluster))


def measure_trace(site: Site, arms: tuple[str, ...], seeds: int) -> Iterator[dict[str, Any]]:
    """Train what is missing, then measure everything on the last tenth: what is known so far."""
    knowledge = knowledge_of(site)
    history = known_part(site, knowledge)
    chosen = train_arm("choice", 0, site, history, None)
    choice = load_checkpoint(chosen).card["choice"]
    trained = {
        f"{arm}-{seed}": train_arm(arm, seed, site, history, choice)
        for arm in arms
        if arm != "choice"
        for seed in range(seeds)
    }
    policies = {"choice": Policy(str(chosen))} | {name: Policy(name) for name in HEURISTICS}
    learned = {"hand-set index": Policy(str(hand_set(site)))}
    learned |= {arm: Policy(str(ungated(path))) for arm, path in trained.items()}
    draws = Draws(site.trace, "predicted", 0, 1, knowledge)
    result: dict[str, Any] = {
        "cluster": site.cluster.name,
        "trace_digest": site.trace.digest(),
        "choice": choice,
        "gate": {arm: load_checkpoint(path).card["gate"] for arm, path in trained.items()},
        "knowledge": {"predicted": standings(site, {**policies, **learned}, draws)},
        "who_pays": [
            asdict(group)
            for group in who_pays(site.trace, site.cluster, policies["choice"], draws)
            if group.grouping != "user"
        ],
    }
    yield result
    for spec, rivals in OTHERS.items():
        some = {name: policies[name] for name in ("choice", *rivals)}
        with suppress(TraceError):  # a trace without limits
            told = Draws(site.trace, spec, 0, 1, knowledge)
            result["knowledge"][spec] = standings(site, some, told)
            yield result


def knowledge_of(site: Site) -> Knowledge:
    """Predictions of all jobs, made once for everything that is measured."""
    made = {name: stored_forecast(site.trace, name) for name in ("mixture", "median")}
    return Knowledge(site.trace, made)


def known_part(site: Site, knowledge: Knowledge) -> SiteHistory:
    """As training opens it."""
    return open_history(site, "predicted", knowledge.forecast("mixture"))


def standings(site: Site, policies: dict[str, Policy], draws: Draws) -> dict[str, Any]:
    """The first policy against all, on the last tenth."""
    say(f"{site.trace.name}: {draws.spec}, {len(policies)} policies")
    found = evaluate_unseen(site.trace, site.cluster, list(policies.values()), draws)
    rows = [
        {**row_of(row), "policy": label} for label, row in zip(policies, found.rows, strict=True)
    ]
    return {"unseen_jobs": found.jobs, "rows": rows}


def row_of(standing: Standing) -> dict[str, Any]:
    return {
        "policy": standing.label,
        "wait": standing.wait,
        "jct": standing.jct,
        "bsld": standing.bsld,
        "wait_over_bound": standing.wait_over_bound,
        # the first policy as a ratio to this one
        "wait_ratio": asdict(standing.wait_ratio),
        "jct_ratio": asdict(standing.jct_ratio),
        "bsld_ratio": asdict(standing.bsld_ratio),
    }


def _kept() -> dict[str, Any]:
    kept = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    return {"traces": kept.get("traces", {})}


def _keep(name: str, found: dict[str, Any]) -> None:
    kept = _kept()
    kept["traces"][name] = beside_before(found, kept["traces"].get(name, {}))
    RESULT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def beside_before(found: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """With the arms that were measured before and are not among these, if the choice is the same:
    rows are ratios to that."""
    same = all(before.get(part) == found.get(part) for part in ("trace_digest", "choice"))
    if not same or "predicted" not in before.get("knowledge", {}):
        return found
    others = {arm: gate for arm, gate in before["gate"].items() if arm not in found["gate"]}
    rows = found["knowledge"]["predicted"]["rows"]
    rows = rows + [
        row for row in before["knowledge"]["predicted"]["rows"] if row["policy"] in others
    ]
    knowledge = {
        **found["knowledge"],
        "predicted": {**found["knowledge"]["predicted"], "rows": rows},
    }
    return {**found, "gate": {**others, **found["gate"]}, "knowledge": knowledge}


def _finished(name: str, arms: Sequence[str], seeds: int) -> bool:
    """Whether the result has all of these trainings already; remove its part to measure again."""
    part = _kept()["traces"].get(name)
    wanted = {f"{arm}-{seed}" for arm in arms if arm != "choice" for seed in range(seeds)}
    return part is not None and "trace_digest" in part and wanted <= part["gate"].keys()


if __name__ == "__main__":
    run(sys.argv[1].split(","), sys.argv[2].split(","))
